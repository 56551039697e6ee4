"""Compare cgc.spark on executors in separate processes with the command on one machine."""

import re
import stat
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import cgc
from cgc import _scratch, _spark_columns, _spark_numbers, _spark_rows, _spark_work, spark
from cgc._safetensors import read
from cgc._spark_numbers import Numbered
from cgc._spark_reach import Needed

MASTER = "local-cluster[2,1,1024]"
# The graphs are small and there are many stages. Code generation by Spark and optimisation by Java would take most of
# the time.
CONF = {
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.sql.adaptive.enabled": "false",
    "spark.sql.shuffle.partitions": "2",
    "spark.sql.codegen.wholeStage": "false",
    "spark.sql.codegen.factoryMode": "NO_CODEGEN",
    "spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC",
    "spark.executor.extraJavaOptions": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC",
}
ARRAYS = ["x", "y", "edge_index", "edge_weight", "members_indptr", "members_indices", "members_weights"]


@pytest.fixture(scope="session")
def session():
    from pyspark.sql import SparkSession

    made = SparkSession.builder.master(MASTER).config("spark.executor.memory", "1024m")
    for key, value in CONF.items():
        made = made.config(key, value)
    made = made.getOrCreate()
    made.sparkContext.setLogLevel("OFF")
    yield made
    made.stop()


def write(home: Path, weighted: bool) -> Path:
    """Write the demo graph with string ids, and with repeated edges, both directions and self-loops."""
    home.mkdir()
    g = cgc.load_dataset("demo")
    n = len(g.y)
    random = np.random.default_rng(1)
    ids = np.array([f"n{v:05d}" for v in range(n)])
    split = np.full(n, "", dtype=object)
    for name in ("train", "val", "test"):
        split[np.asarray(getattr(g, f"{name}_mask"))] = name
    nodes = pa.table({"id": ids, "label": g.y, "split": split.astype(str), "x": list(np.asarray(g.x, np.float32))})
    u, v = np.asarray(g.edge_index)
    u, v = np.concatenate([u, v[:500], [3, 4]]), np.concatenate([v, u[:500], [3, 4]])
    columns = {"source": ids[u], "target": ids[v]}
    if weighted:
        columns["weight"] = random.integers(1, 9, len(u)) / 4
    pq.write_table(nodes, home / "nodes.parquet")
    pq.write_table(pa.table(columns), home / "edges.parquet")
    return home


@pytest.fixture(scope="session")
def plain(tmp_path_factory):
    return write(tmp_path_factory.mktemp("plain") / "graph", False)


@pytest.fixture(scope="session")
def weighted(tmp_path_factory):
    return write(tmp_path_factory.mktemp("weighted") / "graph", True)


def tables(home: Path) -> list:
    return ["--nodes-table", f"{home}/nodes.parquet", "--edges-table", f"{home}/edges.parquet"]


def on_spark(session, home: Path, out: Path, *flags: str) -> cgc.Condensed:
    """Condense on Spark, with the rows of nodes in another order."""
    shuffled = home / "shuffled.parquet"
    if not shuffled.exists():
        table = pq.read_table(home / "nodes.parquet")
        pq.write_table(table.take(np.random.default_rng(2).permutation(len(table))), shuffled)
    spark.condense(
        ["--nodes-table", str(shuffled), "--edges-table", f"{home}/edges.parquet", "-o", str(out), *flags], session
    )
    return cgc.load(out)


def embeddings(path: Path) -> list:
    """Return H of each hop."""
    tensors, _ = read(path)
    return [tensors[name] for name in sorted(tensors) if re.fullmatch(r"x|h\d+", name)]


def same(a: cgc.Condensed, b: cgc.Condensed) -> None:
    for name in ARRAYS:
        u, v = np.asarray(getattr(a, name)), np.asarray(getattr(b, name))
        assert u.shape == v.shape, name
        if u.dtype.kind == "f":
            assert np.abs(u - v).max(initial=0) <= 1e-5, name
        else:
            assert (u == v).all(), name
    assert a.members_ids == b.members_ids


@pytest.mark.parametrize(
    "kind, flags",
    [
        ("plain", ["--propagation", "sage", "--hops", "3", "--label-ratio", "20%", "--standardize"]),
        ("weighted", ["--propagation", "ppr", "--teleport", "0.2", "--nodes", "35", "--augment", "0.5"]),
        ("weighted", ["--inductive", "--nodes", "21", "--method", "cgc-x", "--normalize-features"]),
        ("weighted", ["--propagation", "sage", "--hops", "3", "--nodes", "35", "--shape", "rows"]),
        ("plain", ["--propagation", "ppr", "--nodes", "35", "--shape", "rows", "--parts", "5", "--normalize-features"]),
        ("weighted", ["--inductive", "--standardize", "--nodes", "21", "--shape", "rows"]),
    ],
)
def test_same_as_one_machine(session, request, tmp_path, monkeypatch, kind, flags):
    """Spark gives embeddings within 1e-5, and the same groups. test_killed checks the same for the defaults."""
    home = request.getfixturevalue(kind)
    one = tmp_path / "one.safetensors"
    alone = [f for i, f in enumerate(flags) if not ({f, flags[i - 1]} & {"--shape", "--parts"} and i)]
    line = [spark.binary(), "condense", str(home), "--method=cgc", "-o", str(one), "--quiet"]
    subprocess.run([*line, *alone], check=True)
    kept, command = [], spark._command

    def keep(line, out=None):
        kept.extend(embeddings(word.removeprefix("--embeddings=")) for word in line if "--embeddings=/" in word and out)
        command(line, out)

    monkeypatch.setattr(spark, "_command", keep)
    got = on_spark(session, home, tmp_path / "spark.safetensors", *flags)
    names = ("--propagation", "--hops", "--teleport")
    switches = ("--normalize-features", "--standardize", "--inductive")
    settings = [f for i, f in enumerate(alone) if f in names + switches or (i and alone[i - 1] in names)]
    whole = tmp_path / "whole.safetensors"
    subprocess.run([spark.binary(), "propagate", str(home), "-o", str(whole), "--quiet", *settings], check=True)
    want = embeddings(whole)
    assert [h.shape for h in kept[0]] == [h.shape for h in want]
    assert max(np.abs(a - b).max() for a, b in zip(kept[0], want)) <= (1e-5 if "--shape" in flags else 0)
    same(got, cgc.load(one))


def changed(home: Path, out: Path, nodes=None, edges=None) -> list:
    """Write the tables, each changed by a function if one is given."""
    for name, change in (("nodes", nodes), ("edges", edges)):
        table = pq.read_table(home / f"{name}.parquet")
        pq.write_table(change(table) if change else table, out / f"{name}.parquet")
    return tables(out)


def put(column: str, row: int, value):
    """Return a function that puts a value into a table."""

    def change(table):
        values = table.column(column).to_pylist()
        values[row] = value
        return table.set_column(
            table.column_names.index(column), column, pa.array(values, table.schema.field(column).type)
        )

    return change


def listed(table):
    rows = table.column("x").to_pylist()
    rows[7][3] = None
    return table.set_column(table.column_names.index("x"), "x", pa.array(rows, table.schema.field("x").type))


@pytest.mark.parametrize(
    "nodes, edges, want",
    [
        (lambda t: t.drop_columns(["label"]), None, r"no column label \(--label names another\)"),
        (None, lambda t: t.drop_columns(["target"]), r"no column target"),
        (listed, None, r"feature 3 of node n00007 is null"),
        (put("split", 5, "tran"), None, r"split of node n00005 is 'tran'"),
        (put("label", 5, 1 << 20), None, r"label of node n00005 is 1048576, must be 0 to 65535"),
        (put("id", 5, "n00004"), None, r"id n00004 is of 2 nodes"),
        (put("id", 5, None), None, r"1 rows without an id"),
        (None, put("target", 9, "nobody"), r"target nobody, which no node has"),
    ],
)
def test_bad_tables(session, plain, tmp_path, nodes, edges, want):
    out = tmp_path / "small.safetensors"
    with pytest.raises(cgc.Error, match=want):
        spark.condense([*changed(plain, tmp_path, nodes, edges), "-o", str(out), "--nodes", "35"], session)
    assert not out.exists()


@pytest.mark.parametrize(
    "flags, want",
    [
        (["--hops", "-1"], "hops"),
        (["--node", "3"], "did you mean|unknown flag"),
        (["--worker-memory", "64MB"], "--worker-memory"),
        (["--worker-memory", "many"], "--worker-memory many"),
    ],
)
def test_bad_flags(session, plain, tmp_path, flags, want):
    with pytest.raises(cgc.Error, match=want):
        spark.condense([*tables(plain), "-o", str(tmp_path / "s.safetensors"), *flags], session)


def program(path: Path, text: str) -> Path:
    """Write a program that replaces the worker: it runs the script text, and then executes the command."""
    path.write_text(f'#!/bin/sh\n{text}\nexec {spark.binary()} "$@"\n')
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    return path


PARENT = r"""
pid=$$
while [ "$(cat /proc/$pid/comm)" != java ]; do pid=$(awk '{print $4}' /proc/$pid/stat); done
kill -9 $pid
"""


@pytest.mark.parametrize(
    "killed, shape, at", [("worker", "columns", 1), ("executor", "columns", 1), ("executor", "rows", 3)]
)
def test_killed(session, plain, tmp_path, killed, shape, at):
    """The result is right even if a worker, or an executor with all of its shuffle files, is killed in mid-run.

    By rows, two workers run the first step. The third one runs when their sums are in the shuffle files.
    """
    what = "kill -9 $$" if killed == "worker" else PARENT
    nth = f"n=1\nwhile ! mkdir {tmp_path}/run-$n 2>/dev/null; do n=$((n + 1)); done\nif [ $n = {at} ]; then\n{what}\nfi"
    flags = ["--nodes", "35", "--shape", shape, "--worker", str(program(tmp_path / "worker", nth))]
    got = on_spark(session, plain, tmp_path / "spark.safetensors", *flags)
    assert (tmp_path / f"run-{at + 1}").exists(), "no worker ran again"
    end = time.monotonic() + 20  # the remaining processes of a killed executor end by themselves
    while left := list(Path(_scratch._disk()).glob("cgc-python-*")):
        assert time.monotonic() < end, left
        _scratch.sweep(_scratch._disk())
        time.sleep(0.1)
    one = tmp_path / "one.safetensors"
    line = [spark.binary(), "condense", str(plain), "--method=cgc", "-o", str(one), "--quiet", "--nodes", "35"]
    subprocess.run(line, check=True)
    same(got, cgc.load(one))


def test_folders_of_killed(tmp_path, monkeypatch):
    """Kill -9 of a worker leaves its folder behind, and the next worker on that machine removes it."""
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr(_scratch.tempfile, "tempdir", None)
    text = """import time
from cgc._scratch import on_disk
with on_disk() as home:
    print(home, flush=True)
    time.sleep(60)
"""
    child = subprocess.Popen([sys.executable, "-c", text], stdout=subprocess.PIPE, text=True)
    left = Path(child.stdout.readline().strip())
    assert left.parent == tmp_path
    with _scratch.on_disk():
        assert left.exists(), "its owner lives"
    child.kill()
    child.wait()
    assert left.exists()
    with _scratch.on_disk() as home:
        assert list(tmp_path.iterdir()) == [home]


def test_sentence_of_worker(session, plain, tmp_path):
    worker = program(tmp_path / "worker", "echo 'cgc: the disk is full of stones' >&2; exit 1")
    with pytest.raises(cgc.Error, match=r"^a worker failed: the disk is full of stones$"):
        on_spark(session, plain, tmp_path / "s.safetensors", "--nodes", "35", "--worker", str(worker))


def test_driver_killed(plain, tmp_path):
    """Kill -9 of the driver in mid-run leaves no incomplete file, and the next run works, here with spark-submit."""
    out, pid = tmp_path / "out" / "small.safetensors", tmp_path / "pid"
    out.parent.mkdir()
    once = f"if mkdir {tmp_path}/once 2>/dev/null; then\nkill -9 $(cat {pid}); sleep 1\nfi"
    worker = program(tmp_path / "worker", once)
    condense = ["condense", *tables(plain), "--nodes", "35", "-o", str(out), "--worker", str(worker)]
    settings = [word for pair in CONF.items() for word in ("--conf", "=".join(pair))]
    line = [sys.executable, "-m", "cgc.spark", *condense, "--master", MASTER, *settings]
    child = subprocess.Popen(line, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    pid.write_text(str(child.pid))
    said = child.communicate(timeout=600)
    assert child.returncode == -9, said
    assert list(out.parent.iterdir()) == []

    script = tmp_path / "spark_condense.py"
    script.write_text("from cgc.spark import main\n\nmain()\n")
    submit = [str(Path(sys.executable).with_name("spark-submit")), "--master", MASTER, *settings]
    submit += ["--conf", "spark.executor.memory=1024m", str(script), *condense]
    done = subprocess.run(submit, capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done
    assert re.search("35", done.stdout)
    assert cgc.load(out).x.shape[0] == 35


def test_shape_by_memory(session, plain, tmp_path, capsys):
    """If a worker has too little memory for all edges, it gets blocks of rows, and the note says why."""
    got = on_spark(session, plain, tmp_path / "s.safetensors", "--nodes", "35", "--worker-memory", "67700000B")
    assert got.x.shape[0] == 35
    said = capsys.readouterr().err
    assert re.search(r"note: by rows: .* a worker would need 67 MB for all of them and has 68 MB; 2 blocks", said), said
    sent, expected = (
        float(re.search(pattern, said)[1])
        for pattern in (r"partial sums of each hop: ([\d.]+)", r"about ([\d.]+) MB of p")
    )
    assert 0.5 * expected < sent < 2 * expected


def test_joined(session, weighted, tmp_path, monkeypatch):
    """Ids that do not fit in the driver are numbered by joins, with the same bytes as ids that fit."""
    flags = ["--nodes", "35", "--standardize"]
    got = on_spark(session, weighted, tmp_path / "collected.safetensors", *flags)
    monkeypatch.setattr(_spark_numbers, "COLLECTED", 0)
    same(on_spark(session, weighted, tmp_path / "joined.safetensors", *flags), got)
    for name, expected in (("n00004", r"id n00004 is of 2 nodes"), ("other", r"n00005, which no node has")):
        bad = changed(weighted, tmp_path, put("id", 5, name))
        with pytest.raises(cgc.Error, match=expected):
            spark.condense([*bad, "-o", str(tmp_path / "s.safetensors"), "--nodes", "35"], session)


@pytest.mark.parametrize("first", [0, 10])
def test_whole_numbers(session, plain, tmp_path, first):
    """Integer ids from 0 to n - 1 are used as node numbers; other integers become names of the training nodes."""

    def numbered(names, table):
        for name in names:
            ids = [int(text[1:]) + first for text in table.column(name).to_pylist()]
            table = table.set_column(table.column_names.index(name), name, pa.array(ids, pa.int32()))
        return table

    line = changed(plain, tmp_path, lambda t: numbered(["id"], t), lambda t: numbered(["source", "target"], t))
    spark.condense([*line, "-o", str(tmp_path / "s.safetensors"), "--nodes", "35"], session)
    got = cgc.load(tmp_path / "s.safetensors")
    texts = on_spark(session, plain, tmp_path / "t.safetensors", "--nodes", "35")
    for name in ARRAYS:
        assert np.array_equal(np.asarray(getattr(got, name)), np.asarray(getattr(texts, name))), name
    want = [str(int(text[1:]) + first) for text in texts.members_ids] if first else None
    assert (list(got.members_ids) if got.members_ids else None) == want
    bad = changed(plain, tmp_path, lambda t: put("id", 5, first + 4)(numbered(["id"], t)),
                  lambda t: numbered(["source", "target"], t))  # fmt: skip
    with pytest.raises(cgc.Error, match=rf"the id {first + 4} is of 2 nodes"):
        spark.condense([*bad, "-o", str(tmp_path / "u.safetensors"), "--nodes", "35"], session)


def test_keys(session):
    """Spark's hash puts one key into each partition."""
    from pyspark.sql import functions as F

    keys = session.createDataFrame([(key,) for key in _spark_numbers.keys_for(37)], "key int")
    places = keys.select(F.pmod(F.hash("key"), F.lit(37)).alias("place")).collect()
    assert [row.place for row in places] == list(range(37))


def test_pieces_to_driver(session, weighted, tmp_path, monkeypatch):
    """Machines without the driver's folder send embeddings in pieces, which are condensed within a memory limit."""
    with monkeypatch.context() as whole:
        whole.setattr(_spark_work, "_pieces", lambda file: iter(()))  # machines with the folder send none
        one = on_spark(session, weighted, tmp_path / "one.safetensors", "--nodes", "35", "--augment", "0.5")
    monkeypatch.setattr(_spark_work, "_finds", lambda home, mark: False)
    monkeypatch.setattr(_spark_columns, "HELD", 1 << 15)
    monkeypatch.setattr(_spark_work, "PIECE", 1 << 13)
    monkeypatch.setattr(_spark_columns, "PIECE", 1 << 13)
    flags = ["--nodes", "35", "--augment", "0.5", "--memory", "100kB"]
    same(on_spark(session, weighted, tmp_path / "many.safetensors", *flags), one)
    with pytest.raises(cgc.Error, match="memory"):
        on_spark(session, weighted, tmp_path / "x.safetensors", "--nodes", "35", "--memory", "none")


def test_mark_of_driver(tmp_path):
    """A folder is recognised as the driver's only if it has the driver's mark and this process may write to it."""
    mark = _spark_work.write_mark(str(tmp_path))
    assert _spark_work._finds(str(tmp_path), mark)
    assert not _spark_work._finds(str(tmp_path), mark[1:])
    assert not _spark_work._finds(str(tmp_path / "other"), mark)
    (tmp_path / "driver").write_bytes(b"\xff")
    assert not _spark_work._finds(str(tmp_path), mark)


def test_room_on_driver(session, plain, tmp_path, monkeypatch):
    monkeypatch.setattr(spark.shutil, "disk_usage", lambda place: spark.shutil._ntuple_diskusage(1, 1, 1000))
    with pytest.raises(cgc.Error, match=r"^140 training nodes with 96 features and 2 hops take 0\.0 GB on the driver"):
        on_spark(session, plain, tmp_path / "s.safetensors", "--nodes", "35")


def test_blocks_of_columns():
    """There are no more blocks than memory requires, even if the last unit of 16 columns is narrower."""
    need = Needed(None, 2_449_029, 118_352_826, [196_615, 1_500_000, 2_449_029])
    graph = Numbered(2_449_029, 61_859_140, 100, 196_615, 47, None, None, False, False)
    topology, column = _spark_columns.sizing(graph, need, 2)
    assert _spark_columns.blocks_that_fit(graph, need, 2, topology + 52 * column, 2) == [(0, 48), (48, 100)]
    assert len(_spark_columns.blocks_that_fit(graph, need, 2, topology + 51 * column, 2)) == 3
    assert len(_spark_columns.blocks_that_fit(graph, need, 2, 1 << 40, 2)) == 2
    assert len(_spark_columns.blocks_that_fit(graph, need, 2, topology + 16 * column, 2)) == 7
    assert _spark_columns.blocks_that_fit(graph, need, 2, topology + 15 * column, 2) == []


def test_plan_by_rows():
    """Blocks fit in the memory of a worker. There is one per machine if that is enough."""
    need = Needed(None, 400_000_000, 3_200_000_000, [1_200_000, 50_000_000, 400_000_000])
    graph = Numbered(400_000_000, 1_600_000_000, 128, 1_200_000, 172, None, None, False, False)
    wide = _spark_rows.plan(graph, need, 2, "sgc", 1 << 40, 16, 128, 0)
    assert (wide.blocks, len(wide.cuts)) == (16, 8)
    tight = _spark_rows.plan(graph, need, 2, "sgc", 8 << 30, 16, 32, 0)
    assert tight.memory <= 8 << 30
    assert tight.blocks >= 16
    assert _spark_rows.plan(graph, need, 2, "sgc", 1 << 20, 16, 32, 0) is None
    assert _spark_rows.plan(graph, need, 2, "ppr", 8 << 30, 16, 32, 7) is None
    sums = _spark_rows.traffic(need, 2, 128, 16)
    assert sums[0] > sums[1] > 0
    assert _spark_rows.traffic(need, 2, 128, 1) == [50_000_000 * 516, 1_200_000 * 516]
