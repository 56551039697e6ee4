"""Condense a graph in Spark tables: python -m cgc.spark condense --nodes-table … --edges-table … -o FILE.

Propagation runs on the machines of the cluster. The driver collects the embeddings of the training nodes and condenses
them. pyspark and pyarrow must be installed: pip install 'cgc[spark]'. See docs/how-to/several-machines.md.
"""

from __future__ import annotations

import argparse
import contextlib
import hashlib
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NoReturn, Optional, Union

from . import _scratch
from . import _spark_blocks as _blocks
from . import _spark_buckets as _buckets
from . import _spark_columns as _columns
from . import _spark_files as _files
from . import _spark_rows as _rows
from . import _spark_work as _work
from ._error import Error
from ._run import binary
from ._spark_numbers import Numbered, number, size_of
from ._spark_reach import Needed, needed
from ._spark_tables import Columns, load, read

__all__ = ["condense", "main"]

_UNITS = {"KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30, "kB": 10**3, "MB": 10**6, "GB": 10**9, "B": 1}
_JAVA = {"": 1, "b": 1, "k": 1 << 10, "m": 1 << 20, "g": 1 << 30, "t": 1 << 40}

_SHUFFLE = "spark.sql.shuffle.partitions"
_PARTITION = 32 << 20  # bytes of the compressed tables per partition of a shuffle

# Rows are few and large. Compiling code for each stage would therefore take longer than it saves, and the size of
# batches between Java and Python is limited in bytes.
_FAST = {
    "spark.sql.adaptive.enabled": "false",
    "spark.sql.codegen.wholeStage": "false",
    "spark.sql.execution.arrow.maxBytesPerBatch": str(16 << 20),
}

# Settings for one machine that simulates a cluster: no web page, no waiting for the executor that has a task's data,
# and no compression of shuffled data. Java uses only its quick compiler, because the long loops do not run in Java.
_LOCAL = {
    "spark.ui.enabled": "false",
    "spark.locality.wait": "0",
    "spark.shuffle.compress": "false",
    "spark.driver.extraJavaOptions": "-XX:+UseSerialGC -XX:TieredStopAtLevel=1",
    "spark.executor.extraJavaOptions": "-XX:+UseSerialGC -XX:TieredStopAtLevel=1",
}


class _Parser(argparse.ArgumentParser):
    """A parser that reports errors in one sentence."""

    def error(self, message: str) -> NoReturn:
        """Raise a usage error, which is reported like an error of the command."""
        raise _Usage(message)


class _Usage(Error):
    """An error in the command line."""


def _parser() -> _Parser:
    parser = _Parser(
        prog="python -m cgc.spark condense", allow_abbrev=False,
        description="Condense a graph in tables of Spark. Flags of cgc condense --embeddings are accepted, too.",
    )  # fmt: skip
    add = parser.add_argument
    add("--master", help="where Spark runs: local-cluster[2,1,1024], yarn, spark://…; spark-submit says it otherwise")
    add("--conf", action="append", default=[], metavar="KEY=VALUE", help="a setting of Spark; may be repeated")
    add("--nodes-table", required=True, help="path of Parquet, or name of a table: id, label, split, features")
    add("--edges-table", required=True, help="path of Parquet, or name of a table: source, target[, weight]")
    for name in ("id", "label", "split", "source", "target", "weight"):
        add(f"--{name}", default=name, metavar="COLUMN", help=f"column for {name} (default {name})")
    add("--features", default="", metavar="COLUMNS", help="columns of features, with commas (default all others)")
    add("--shape", choices=("auto", "columns", "rows"), default="auto", help="how work is cut (default by memory)")
    add("--parts", type=int, default=0, help="number of parts of the work (default by cores and memory)")
    add("--worker-memory", default="", help="worker memory outside Java, such as 2GiB (default an executor's heap)")
    add("--worker", default="", help="the command for the machines of Spark, if they are of another kind than this one")
    add("--name", default="", help="name of the graph in the result (default from --nodes-table)")
    add("-o", "--output", required=True, help="write the condensed graph to FILE")
    add("--propagation", default="sgc")
    add("--hops", type=int, default=2)
    add("--teleport", type=float, default=0.1)
    add("--normalize-features", action="store_true")
    add("--standardize", action="store_true")
    add("--inductive", action="store_true")
    add("--memory", default="", help="memory limit of the driver for training nodes, as of cgc condense")
    return parser


def condense(arguments: Sequence[str], session: Any = None) -> None:
    """Condense with the arguments that follow `python -m cgc.spark condense` on a command line.

    session is the SparkSession to use. The default is the active session, or a new one. Raises Error with a
    one-sentence message.
    """
    given, rest = _parser().parse_known_args(list(arguments))
    begun = time.monotonic()
    setting = [f"--propagation={given.propagation}", f"--hops={given.hops}"]
    setting += [f"--teleport={given.teleport}"] if given.propagation == "ppr" else []
    setting += [
        f"--{name}"
        for name in ("normalize-features", "standardize", "inductive")
        if getattr(given, name.replace("-", "_"))
    ]
    finish = [f"--output={given.output}", *setting, *([f"--memory={given.memory}"] if given.memory else []), *rest]
    _check(finish)
    session, own = _session(given) if session is None else (session, False)
    if own:
        _note(f"Spark has started after {time.monotonic() - begun:.1f} s")
    try:
        with contextlib.ExitStack() as stack:
            bound = _size(given.memory, "memory") if given.memory else None

            def place(size: int) -> Path:
                small = bound is None or 4 * size < bound
                return stack.enter_context(_scratch.folder(size) if small else _scratch.on_disk())

            parts, home = _propagate(session, given, place)
            merged = home / "embeddings.safetensors"
            _command(["propagate", "--merge", *map(str, parts), f"--output={merged}", "--quiet"])
            _note(f"propagated in {time.monotonic() - begun:.1f} s")
            for part in parts:
                part.unlink()
            _command(["condense", f"--embeddings={merged}", *finish], sys.stdout)
    finally:
        if own:
            session.stop()


def _check(finish: Sequence[str]) -> None:
    """Let the command check its flags before the long work. If they are valid, it only reports a missing file."""
    try:
        _command(["condense", "--embeddings=/nonexistent/cgc", *finish, "--quiet"])
    except Error as e:
        if "/nonexistent/cgc" not in str(e):
            raise
        return
    raise Error("the command read a file of embeddings that is not there")  # pragma: no cover


def _propagate(
    session: Any, given: argparse.Namespace, place: Callable[[int], Path]
) -> tuple[list[Path], Path]:  # fmt: skip
    """Return the files that workers wrote, and their folder. place makes a folder for a given number of bytes."""
    from pyspark import cloudpickle

    pickle: Any = cloudpickle
    for module in (_work, _blocks, _buckets, _files, _scratch):  # so that the machines need not have the package
        pickle.register_pickle_by_value(module)
    kept: list[Any] = []
    settings = contextlib.ExitStack()
    try:
        nodes, edges = read(session, given.nodes_table, "nodes"), read(session, given.edges_table, "edges")
        columns = Columns(
            given.id, given.label, given.split, [n for n in given.features.split(",") if n], given.source,
            given.target, given.weight,
        )  # fmt: skip
        memory, threads, slots = _workers(session, given)
        _spread(session, slots, [nodes, edges])
        settings.enter_context(_set(session, _FAST if str(session.version) >= "4" else {}))
        table = load(nodes, columns, kept)
        graph = number(session, table, edges, columns, slots, kept)
        _note(
            f"{graph.count:,} nodes, {graph.edge_count:,} edges, {graph.width} features, {graph.classes} classes, "
            f"{graph.train:,} training nodes"
        )
        need = needed(session, graph, given.hops, given.inductive, kept)
        task = {
            "graph": given.name or _stem(given.nodes_table), "nodes": graph.count, "edges": graph.edge_count,
            "features": graph.width, "classes": graph.classes, "class_names": graph.class_names,
            "feature_names": graph.feature_names,
            "propagation": given.propagation, "hops": given.hops,
            "teleport": given.teleport if given.propagation == "ppr" else 0, "standardize": given.standardize,
            "normalize_features": given.normalize_features,
            "inductive": given.inductive, "memory": memory,
        }  # fmt: skip
        by = _choose(graph, need, given, memory, slots, _machines(session))
        home = _room(graph, given.hops, place)
        program = _ship(session, given)
        if isinstance(by, list):
            return _columns.propagate(graph, need, task, by, threads, program, home), home
        parts, sent = _rows.propagate(graph, need, task, by, threads, program, home, session.sparkContext)
        _note("partial sums of each hop: " + ", ".join(f"{size / 1e6:,.1f} MB" for size in sent))
        return parts, home
    except Error:
        raise
    except Exception as e:
        raise Error(_reason(e)) from e
    finally:
        settings.close()
        for frame in kept:
            frame.unpersist()


def _choose(
    graph: Numbered, need: Needed, given: argparse.Namespace, memory: int, slots: int, machines: int
) -> Union[list[tuple[int, int]], _rows.Plan]:
    """Return blocks of columns, or a plan by rows if a worker cannot hold all edges. Print the choice and why."""
    topology, _ = _columns.sizing(graph, need, given.hops)
    blocks = _columns.blocks_that_fit(graph, need, given.hops, memory, slots)
    sizes = f"{need.node_count:,} nodes and {need.entry_count:,} entries of A are needed"
    lacks = f"a worker would need {topology / 1e6:,.0f} MB for all of them and has {memory / 1e6:,.0f} MB"
    if given.shape == "columns" or (given.shape == "auto" and blocks):
        if not blocks:
            raise Error(f"{sizes}: {lacks} (--worker-memory, or --shape rows)")
        blocks = _columns.cut(graph.width, given.parts) if given.parts else blocks
        _note(
            f"by columns: {sizes}, {topology / 1e6:,.0f} MB for each of {len(blocks)} workers with "
            f"{memory / 1e6:,.0f} MB; nothing is shuffled between hops"
        )
        return blocks
    plan = _rows.plan(graph, need, given.hops, given.propagation, memory, machines, slots, given.parts)
    if plan is None:
        raise Error(f"{sizes}: {lacks}, and even blocks of rows do not fit (--worker-memory, --parts)")
    sent = sum(_rows.traffic(need, given.hops, graph.width, plan.blocks))
    why = "--shape rows asks for it" if blocks else lacks
    _note(
        f"by rows: {sizes}; {why}; {plan.blocks} blocks of nodes by {len(plan.cuts)} of columns, about "
        f"{plan.memory / 1e6:,.0f} MB for each worker, and about {sent / 1e6:,.0f} MB of partial sums are shuffled"
    )
    return plan


@contextlib.contextmanager
def _set(session: Any, wanted: Mapping[str, str]) -> Iterator[None]:
    """Change settings of a session, and restore them at the end."""
    before = {key: session.conf.get(key) for key in wanted}
    for key, value in wanted.items():
        session.conf.set(key, value)
    try:
        yield
    finally:
        for key, value in before.items():
            session.conf.set(key, value)


def _room(graph: Numbered, hops: int, place: Callable[[int], Path]) -> Path:
    """Return a folder on the driver with room for the embeddings of the training nodes, both in parts and merged."""
    size = 2 * 4 * graph.train * graph.width * (hops + 1)
    home = place(size)
    free = shutil.disk_usage(home).free
    if free < size:
        raise Error(
            f"{graph.train:,} training nodes with {graph.width} features and {hops} hops take {size / 1e9:.1f} GB on "
            f"the driver, and {home.parent} has {free / 1e9:.1f} GB free (TMPDIR names another folder)"
        )
    return home


def _machines(session: Any) -> int:
    """Return the number of executors. In local mode, the driver counts as one."""
    return max(1, int(session.sparkContext._jsc.sc().getExecutorMemoryStatus().size()) - 1)


def _spread(session: Any, slots: int, tables: Sequence[Any]) -> None:
    """Set the number of partitions of a shuffle by the sizes of the tables, unless Spark's configuration sets it."""
    if session.sparkContext.getConf().contains(_SHUFFLE):
        return
    size = sum(size_of(table) for table in tables)
    session.conf.set(_SHUFFLE, str(min(20_000, max(2 * slots, -(-size // _PARTITION)))))


def _workers(session: Any, given: argparse.Namespace) -> tuple[int, int, int]:
    """Return the memory and the threads of a worker, and the number of concurrent workers."""
    conf = session.sparkContext.getConf()
    threads = int(conf.get("spark.task.cpus", "1"))
    slots = max(1, session.sparkContext.defaultParallelism // threads)
    if given.worker_memory:
        return _size(given.worker_memory, "worker-memory"), threads, slots
    heap = re.fullmatch(r"(\d+)([bkmgt]?)b?", conf.get("spark.executor.memory", "1g").lower())
    memory = int(heap[1]) * _JAVA[heap[2]] if heap else 1 << 30
    cores = int(conf.get("spark.executor.cores", "1"))
    return memory // max(1, cores // threads), threads, slots


def _size(text: str, flag: str) -> int:
    """Parse a size such as 2GiB, and return its bytes."""
    found = re.fullmatch(r"(\d+(?:\.\d+)?)\s*([A-Za-z]*)", text)
    if not found or found[2] not in _UNITS or float(found[1]) <= 0:
        raise _Usage(f"--{flag} {text}, must be a number of bytes above 0, as 2GiB or 500MB")
    return int(float(found[1]) * _UNITS[found[2]])


def _ship(session: Any, given: argparse.Namespace) -> str:
    """Ship the command to the machines of the cluster, and return its name there, which depends on its content.

    The copy stays on the driver as long as the session, so that machines that join later can fetch it.
    """
    from pyspark import SparkFiles

    path = Path(given.worker or binary())
    if not path.is_file():
        raise _Usage(f"--worker {path}: there is no such file")
    name = f"cgc-{hashlib.sha256(path.read_bytes()).hexdigest()[:16]}"
    shipped = session.sparkContext.listFiles
    if not any(str(place).rsplit("/", 1)[-1] == name for place in shipped):
        copy = Path(SparkFiles.getRootDirectory()) / "shipped" / name
        copy.parent.mkdir(exist_ok=True)
        shutil.copy(path, copy)  # a copy, because Spark would name a link after its target
        session.sparkContext.addFile(str(copy))
    return name


def _session(given: argparse.Namespace) -> tuple[Any, bool]:
    """Return the active Spark session or a new one, and whether it is new."""
    try:
        from pyspark.sql import SparkSession
    except ImportError:
        raise Error("pyspark is not installed: pip install 'cgc[spark]', and Java 17 or later") from None
    if SparkSession.getActiveSession() is not None:
        return SparkSession.getActiveSession(), False
    builder = SparkSession.builder.appName("cgc")
    if given.master:
        builder = builder.master(given.master)
        cluster = re.fullmatch(r"local-cluster\[\s*\d+\s*,\s*(\d+)\s*,\s*(\d+)\s*\]", given.master)
        if cluster:
            builder = builder.config("spark.executor.memory", f"{cluster[2]}m")
            builder = builder.config("spark.executor.cores", cluster[1])
            for key, value in _LOCAL.items():
                builder = builder.config(key, value)
    for pair in given.conf:
        key, equals, value = pair.partition("=")
        if not equals:
            raise _Usage(f"--conf {pair}, expected KEY=VALUE")
        builder = builder.config(key, value)
    try:
        return builder.getOrCreate(), True
    except Exception as e:
        raise Error(f"Spark does not start: {_reason(e)}") from e


def _stem(place: str) -> str:
    """Return the name of a graph from the path or name of its node table."""
    path = Path(place)
    return path.parent.name if path.stem == "nodes" and path.parent.name else path.stem


def _command(line: Sequence[str], out: Any = None) -> None:
    """Run the command. Print its notes, and raise its error."""
    done = subprocess.run([binary(), *line], capture_output=True, text=True)
    said = done.stderr.splitlines()
    if done.returncode == 0:
        for text in said:
            print(text, file=sys.stderr)
        if out is not None:  # a notebook's output has no file descriptor for the process to write to
            print(done.stdout, end="", file=out)
        return
    last = [text.removeprefix("cgc: ") for text in said if text.startswith("cgc: ")]
    kind = _Usage if done.returncode == 2 else Error
    raise kind(last[-1] if last else f"the command ended with code {done.returncode}")


def _reason(e: BaseException) -> str:
    """Return the essence of a Spark error: a worker's message, or the first line of the cause."""
    text = str(e)
    marked = re.search(re.escape(_work.MARK) + r"([^\n]*)", text)
    if marked:
        return f"a worker failed: {marked[1].strip()}"
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    causes = [line for line in lines if re.search(r"(Error|Exception|reason): ", line)]
    return (causes or lines or [type(e).__name__])[0]


def _note(sentence: str) -> None:
    print(f"note: {sentence}", file=sys.stderr, flush=True)


def main(arguments: Optional[Sequence[str]] = None) -> None:
    """Run the command line. Exit like cgc: with 1 after a failure, and with 2 for an error in the command line."""
    line = list(sys.argv[1:] if arguments is None else arguments)
    try:
        if line[:1] != ["condense"]:
            raise _Usage("expected python -m cgc.spark condense --nodes-table … --edges-table … -o FILE")
        condense(line[1:])
    except Error as e:
        print(f"cgc: {e}", file=sys.stderr)
        sys.exit(2 if isinstance(e, _Usage) else 1)
    except KeyboardInterrupt:
        sys.exit(130)


if __name__ == "__main__":
    main()
