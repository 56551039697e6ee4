"""Compare cgc.spark with one process: python run.py GRAPH.safetensors FOLDER [--nodes N] [--shape rows --parts 4] ….

FOLDER contains the tables that tables.py wrote, and has a slash in its name. Unless the last flag is --spark-only, one
process condenses GRAPH and then the tables. All other flags are passed to python -m cgc.spark condense. The script
prints one JSON object for each run: seconds, processor seconds of all processes, the peak memory of each kind of
process, and the output of the run. pyspark, pyarrow and cgc must be installed.
"""

import json
import os
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

from cgc._run import binary

TICK = os.sysconf("SC_CLK_TCK")


class Watch:
    """Adds up the processor time of a process and of all its descendants, and finds the peak of each kind."""

    def __init__(self, root: int) -> None:
        self.root, self.seconds, self.peak, self.over = root, {}, {}, threading.Event()
        self.thread = threading.Thread(target=self._loop)
        self.thread.start()

    def _loop(self) -> None:
        while not self.over.wait(0.2):
            self._look()

    def _look(self) -> None:
        parents, found = {}, {}
        for name in os.listdir("/proc"):
            if name.isdigit():
                try:
                    text = Path(f"/proc/{name}/stat").read_text()
                except OSError:
                    continue
                kind, rest = text[text.index("(") + 1 : text.rindex(")")], text[text.rindex(")") + 2 :].split()
                parents[int(name)] = int(rest[1])
                found[int(name)] = (kind, (int(rest[11]) + int(rest[12])) / TICK, int(rest[21]) * 4096)
        for pid, (kind, seconds, rss) in found.items():
            up = pid
            while up in parents and up != self.root:
                up = parents[up]
            if up == self.root:
                self.seconds[pid] = (kind, seconds)
                self.peak[kind] = max(self.peak.get(kind, 0), rss)

    def end(self) -> dict:
        """Stop watching and return the measurements."""
        self.over.set()
        self.thread.join()
        kinds: dict[str, float] = {}
        for kind, seconds in self.seconds.values():
            kinds[kind] = kinds.get(kind, 0) + seconds
        return {
            "processor_seconds": round(sum(kinds.values()), 2),
            "by_kind": {k: round(v, 2) for k, v in kinds.items()},
            "peak_mb": {k: round(v / 1e6) for k, v in self.peak.items()},
        }


def timed(name: str, line: list[str]) -> None:
    """Run a command and print its time and memory."""
    begun = time.monotonic()
    child = subprocess.Popen(line, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    watch = Watch(child.pid)
    said = child.communicate()[1]
    facts = {"run": name, "seconds": round(time.monotonic() - begun, 2), "code": child.returncode, **watch.end()}
    facts["notes"] = [text for text in said.splitlines() if text.startswith(("note:", "cgc:"))]
    print(json.dumps(facts), flush=True)


def main(graph: str, folder: str, *flags: str) -> None:
    """Time one process, unless --spark-only is given, and then cgc.spark."""
    alone_too = flags[-1:] != ("--spark-only",)
    flags = flags if alone_too else flags[:-1]
    own = {"--shape", "--parts", "--master", "--worker-memory", "--conf"}
    alone = [f for i, f in enumerate(flags) if f not in own and (i == 0 or flags[i - 1] not in own)]
    line = ["--nodes-table", f"{folder}/nodes.parquet", "--edges-table", f"{folder}/edges.parquet", *flags]
    if "--master" not in flags:
        line += ["--master", "local-cluster[2,1,1024]"]
    with tempfile.TemporaryDirectory() as home:
        for name, place in (("one process", graph), ("one process, same tables", folder)) if alone_too else ():
            single = [binary(), "condense", place, "--method=cgc", "-o", f"{home}/one.safetensors", "--force"]
            timed(name, [*single, *alone])
        timed("spark", [sys.executable, "-m", "cgc.spark", "condense", *line, "-o", f"{home}/spark.safetensors"])


if __name__ == "__main__":
    main(*sys.argv[1:])
