"""Progress is shown in terminals and notebooks, and nowhere else."""

import os
import re
import subprocess
import sys
import time

import pytest

import cgc
from cgc import _bar

WORK = "import cgc; small = cgc.condense('demo', nodes=35); cgc.evaluate(small, on='demo', seeds=20000, epochs=2)"


def lines_until(program: str, enough, seconds: float = 60.0) -> str:
    """Run a program on a terminal of 60 columns, and interrupt it when enough(text) is true. Return its output."""
    import fcntl
    import struct
    import termios

    here, there = os.openpty()
    fcntl.ioctl(there, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 60, 0, 0))
    environment = {**os.environ, "PYTHONIOENCODING": "utf-8"}
    python = subprocess.Popen([sys.executable, "-c", program], stderr=there, env=environment)
    os.close(there)
    text, end = b"", time.monotonic() + seconds
    interrupted = False
    while time.monotonic() < end:
        try:
            said = os.read(here, 1 << 16)
        except OSError:  # on Linux, this means that the other end is closed
            break
        if not said:
            break
        text += said
        if not interrupted and enough(text.decode(errors="replace")):
            python.send_signal(2)
            interrupted = True
    os.close(here)
    assert python.wait(30) != 0 and interrupted, text
    return text.decode()


@pytest.mark.skipif(os.name == "nt", reason="no terminal to open")
def test_a_terminal_shows_a_bar_with_time_left():
    want = re.compile(r"training gcn  ━*─*  \d+% · \d+ s · [\d minhs]+ left")
    text = lines_until(WORK, lambda text: len(want.findall(text)) >= 3)
    bars, _, rest = text.partition("Traceback")
    drawn = [line.rstrip() for line in bars.split("\r") if line.strip()]
    assert all(len(line) < 60 for line in drawn) and len(drawn) >= 3
    assert bars.endswith("\r")  # the line is erased
    assert "KeyboardInterrupt" in rest and "{" not in bars and "\n" not in bars
    shares = [int(m[1]) for line in drawn if (m := re.search(r"training gcn .* (\d+)%", line))]
    assert shares == sorted(shares)


def test_nothing_is_shown_elsewhere(arrays):
    program = "import cgc; small = cgc.condense('demo', nodes=35); cgc.evaluate(small, on='demo', seeds=1, epochs=300)"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, check=True)
    assert done.stdout == b"" and done.stderr == b""


def test_a_notebook_shows_one_output_that_is_replaced():
    nbformat, nbclient = pytest.importorskip("nbformat"), pytest.importorskip("nbclient")
    pytest.importorskip("ipykernel")
    prepare, evaluation = WORK.replace("20000", "400").rsplit("; ", 1)
    cells = [
        f"{prepare}\n"
        "from cgc import _bar; _bar._DELAY = _bar._INTERVAL = 0.02; seen = []; put = _bar._Notebook.put\n"
        "_bar._Notebook.put = lambda self, *text: (seen.append(text), put(self, *text))",
        evaluation,
        "print(len(seen), *[page for _, page in seen if ' left' in page][-1:])",
        "cgc.condense('demo', nodes=9000)",
    ]
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(text) for text in cells])
    nbclient.NotebookClient(notebook, timeout=120, kernel_name="python3", allow_errors=True).execute()
    shown = [out for out in notebook.cells[1].outputs if out.output_type == "display_data"]
    assert len(shown) == 1 and shown[0] is notebook.cells[1].outputs[0]
    assert re.fullmatch(r"training gcn  \d+ s", shown[0].data["text/plain"])  # the last state remains
    count, *before = notebook.cells[2].outputs[0].text.split(maxsplit=1)
    assert int(count) >= 3 and "<progress value=" in before[0] and " left" in before[0]
    assert notebook.cells[3].outputs[-1].ename == "Error"  # errors are raised as in a program


def test_the_bar_tells_what_it_can(monkeypatch):
    bar = _bar._Terminal()
    assert bar.take(b'{"stage":"opening demo","done":0,"total":0}\n') and bar.figures(bar.begun + 7.2) == "7 s"
    assert bar.take(b'{"stage":"train gcn","done":10,"total":100}\n')
    bar.entered = bar.begun
    assert bar.take(b'{"stage":"train gcn","done":30,"total":100}\n')  # 20 steps took 2 seconds, and 70 remain
    assert bar.figures(bar.begun + 2) == "30% · 2 s · 7 s left"
    for line in (b"cgc: no\n", b"note: 5\n", b"5\n", b"[]\n", b"{}\n", b'{"stage":1}\n', b"\xff\n"):
        assert not bar.take(line)
    assert [_bar.span(s) for s in (0.2, 59.9, 61, 3599, 7300)] == [
        "0 s",
        "59 s",
        "1 min 1 s",
        "59 min 59 s",
        "2 h 1 min",
    ]


def test_a_terminal_without_unicode(monkeypatch, capsys):
    class Plain:
        encoding, text = "ascii", ""

        def fileno(self):
            raise ValueError

        def write(self, text):
            self.text += text.encode("ascii").decode()

        def flush(self):
            pass

    monkeypatch.setattr(sys, "stderr", Plain())
    bar = _bar._Terminal()
    bar.take(b'{"stage":"train gcn","done":50,"total":100}\n')
    bar.draw("50% · 2 s")
    bar.draw("50%")
    assert sys.stderr.text.split("\r")[1:] == [f"train gcn  {'#' * 15}{'-' * 15}  50% - 2 s",
                                               f"train gcn  {'#' * 15}{'-' * 15}  50%      "]  # fmt: skip


def test_errors_of_the_command_with_a_bar(monkeypatch):
    monkeypatch.setattr("cgc._run.bar", _bar._Terminal)
    with pytest.raises(cgc.Error, match=r"^nodes 9000, "):
        cgc.condense("demo", nodes=9000)
