"""Temporary files and child processes are removed however the work ends. These tests really kill processes."""

import os
import random
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

import cgc
from cgc import _run, _scratch

pytestmark = pytest.mark.skipif(os.name == "nt", reason="no signals to send")

ENDLESS = "import cgc; print(1, flush=True); cgc.tune('demo', nodes=35, trials=100000)"


def start(program: str, place: Path, **options) -> subprocess.Popen:
    """Start a Python program with place as its temporary folder. It receives SIGHUP even under nohup."""
    environment = {**os.environ, "TMPDIR": str(place)}
    heard = "import signal; signal.signal(signal.SIGHUP, signal.SIG_DFL); "
    return subprocess.Popen([sys.executable, "-c", heard + program], env=environment, stdout=subprocess.PIPE, **options)


def found(place: Path) -> list[Path]:
    return list(place.glob("*cgc-python-*"))


def children(pid: int) -> list[int]:
    line = ["ps", "-o", "pid=,comm=", "--ppid", str(pid)]
    said = subprocess.run(line, capture_output=True, text=True, check=False).stdout
    return [int(text.split()[0]) for text in said.splitlines() if text.split()[1] == "cgc"]


def wait_for(what, seconds: float = 60.0):
    """Wait until what() is true, and return its value."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if value := what():
            return value
        time.sleep(0.02)
    raise AssertionError("this takes too long")


def alive(pid: int) -> bool:
    try:
        with open(f"/proc/{pid}/stat", encoding="ascii", errors="replace") as file:
            return file.read().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


needs_proc = pytest.mark.skipif(not os.path.isdir("/proc/self/fd"), reason="no /proc here")


@pytest.fixture
def on_disk(monkeypatch):
    """Make temporary folders in tempfile's folder, in child programs too."""
    monkeypatch.setattr(_scratch, "_memory", lambda size: None)
    return "from cgc import _scratch; _scratch._memory = lambda size: None; "


@needs_proc
def test_python_or_its_child_is_killed_at_random_points(tmp_path, on_disk):
    """25 kills: of Python by SIGKILL, SIGTERM, SIGHUP and SIGINT, and of the child by SIGKILL."""
    draw = random.Random(7)
    signals = [signal.SIGKILL, signal.SIGTERM, signal.SIGHUP, signal.SIGINT, None] * 5
    places = [tmp_path / str(i) for i in range(len(signals))]
    works: list = []

    def start_next() -> None:
        if len(works) < len(places):
            places[len(works)].mkdir()
            works.append(start(on_disk + ENDLESS, places[len(works)], stderr=subprocess.PIPE))

    start_next()
    for i, (number, place) in enumerate(zip(signals, places)):
        start_next()  # while this one is working
        python = works[i]
        assert python.stdout.readline() == b"1\n"
        if i % 2:
            wait_for(lambda place=place: found(place))
        time.sleep(draw.uniform(0, 0.15))
        ours = children(python.pid)
        if number is None:
            ours = wait_for(lambda python=python: children(python.pid))
            os.kill(ours[0], signal.SIGKILL)
            assert b"cgc.Error: the command was ended by signal 9" in python.communicate(timeout=60)[1]
            assert python.returncode == 1
        else:
            python.send_signal(number)
            python.communicate(timeout=60)
            assert python.returncode in ((-number,) if number != signal.SIGINT else (1, 130, -number))
        assert number == signal.SIGKILL or not found(place)
        wait_for(lambda those=ours: not any(alive(child) for child in those), 10)
    assert any(found(place) for place in places)
    for place in places:  # the next call would do this in tempfile's folder
        _scratch.sweep(str(place))
        assert not found(place)


@needs_proc
def test_the_next_call_cleans_up_after_a_killed_python(tmp_path, on_disk, arrays, monkeypatch):
    python = start(on_disk + ENDLESS, tmp_path)
    child = wait_for(lambda: children(python.pid))[0]
    (left,) = wait_for(lambda: found(tmp_path))
    monkeypatch.setattr(_scratch.tempfile, "tempdir", str(tmp_path))
    cgc.condense(**arrays, nodes=6)
    assert left.is_dir()  # a running process has locked it
    python.kill()
    python.communicate()
    wait_for(lambda: not alive(child), 10)
    assert left.is_dir()
    other = tmp_path / "cgc-python-mine"  # not a name that the package makes
    other.mkdir()
    (tmp_path / "cgc-python-abcdefgh").write_text("a file")
    cgc.condense(**arrays, nodes=6)
    assert sorted(p.name for p in tmp_path.iterdir()) == ["cgc-python-abcdefgh", "cgc-python-mine"]


def test_the_command_ends_though_a_fork_holds_its_standard_input(tmp_path, on_disk):
    program = on_disk + (
        "import os, time, threading, cgc\n"
        "threading.Thread(target=lambda: cgc.tune('demo', nodes=35, trials=100000), daemon=True).start()\n"
        "time.sleep(1); pid = os.fork()\n"
        "if pid == 0: time.sleep(60); os._exit(0)\n"
        "print(pid, flush=True); time.sleep(60)\n"
    )
    python = start(program, tmp_path)
    fork = int(python.stdout.readline())
    try:
        child = wait_for(lambda: children(python.pid))[0]
        python.kill()
        python.wait()
        assert alive(fork)
        wait_for(lambda: not alive(child), 10)
    finally:
        os.kill(fork, signal.SIGKILL)
        python.communicate()


def test_sigterm_in_a_thread_that_is_not_the_main_one(tmp_path, on_disk):
    """The program's own handler runs. Its sys.exit removes the folder of the daemon thread."""
    program = on_disk + (
        "import signal, sys, threading, time, cgc\n"
        "signal.signal(signal.SIGTERM, lambda *_: sys.exit(3))\n"
        "threading.Thread(target=lambda: cgc.tune('demo', nodes=35, trials=100000), daemon=True).start()\n"
        "print(1, flush=True); time.sleep(60)\n"
    )
    python = start(program, tmp_path, stderr=subprocess.PIPE)
    child = wait_for(lambda: children(python.pid))[0]
    python.terminate()
    python.communicate(timeout=60)
    assert python.returncode == 3 and not found(tmp_path)
    wait_for(lambda: not alive(child), 10)


def test_handlers_of_the_program_stay(arrays):
    seen = []
    before = signal.signal(signal.SIGTERM, lambda *_: seen.append(1))
    try:
        with _scratch.folder(0) as home:
            os.kill(os.getpid(), signal.SIGTERM)
            assert seen == [1] and home.is_dir()
    finally:
        signal.signal(signal.SIGTERM, before)
    cgc.condense(**arrays, nodes=6)
    assert signal.getsignal(signal.SIGTERM) == before
    try:
        with _scratch.folder(0):
            signal.signal(signal.SIGTERM, signal.SIG_IGN)
        assert signal.getsignal(signal.SIGTERM) == signal.SIG_IGN
    finally:
        signal.signal(signal.SIGTERM, before)


def test_an_objective_may_end_in_another_thread(tmp_path, on_disk):
    """Its folder is removed without an error. Signals then have their default effect."""
    program = on_disk + (
        "import os, signal, threading, cgc\n"
        "kept = [cgc.objective('small', cgc.load_dataset('demo'))]\n"
        "thread = threading.Thread(target=kept.clear)\n"
        "thread.start(); thread.join()\n"
        "print(1, flush=True)\n"
        "cgc.condense('demo', nodes=7)\n"
        "os.kill(os.getpid(), signal.SIGTERM)\n"
    )
    python = start(program, tmp_path, stderr=subprocess.PIPE)
    _, said = python.communicate(timeout=60)
    assert python.returncode == -signal.SIGTERM and said == b"" and not found(tmp_path)


def test_a_fork_keeps_the_folders_of_its_parent(tmp_path, on_disk):
    program = on_disk + (
        "import os, sys, cgc\n"
        "objective = cgc.objective('small', cgc.load_dataset('demo'))\n"
        "fork = os.fork()\n"
        "if fork == 0: sys.exit()\n"
        "os.waitpid(fork, 0)\n"
        "print(len(os.listdir(os.environ['TMPDIR'])))\n"
    )
    python = start(program, tmp_path)
    assert python.communicate(timeout=60)[0] == b"1\n" and not found(tmp_path)


def test_ctrl_c_twice_does_not_leave_the_folder(monkeypatch):
    remove, calls = _scratch.shutil.rmtree, []

    def interrupted(path, **options):
        calls.append(path)
        if len(calls) == 1:
            raise KeyboardInterrupt
        remove(path, **options)

    monkeypatch.setattr(_scratch.shutil, "rmtree", interrupted)
    with pytest.raises(KeyboardInterrupt), _scratch.folder(0) as home:
        pass
    assert len(calls) == 2 and not home.exists()


def test_several_threads_have_folders_of_their_own(arrays):
    results: list = []
    threads = [threading.Thread(target=lambda: results.append(cgc.condense(**arrays, nodes=6))) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len({small.x.tobytes() for small in results}) == 1 and len(results) == 3


def test_a_folder_that_is_swept_before_it_is_locked_is_made_again(tmp_path, monkeypatch):
    own, calls = _scratch._own, []

    def late(path):
        calls.append(path)
        if len(calls) == 1:
            monkeypatch.setattr(_scratch, "_live", {})
            _scratch.sweep(str(tmp_path))
        return own(path)

    monkeypatch.setattr(_scratch, "_own", late)
    monkeypatch.setattr(_scratch, "_memory", lambda size: str(tmp_path))
    with _scratch.folder(0) as home:
        assert len(calls) == 2 and str(home) == calls[1] and home.is_dir()
    assert not found(tmp_path)


def test_the_windows_way_of_sweeping(tmp_path):
    for name, owner, age in (("cgc-python-00000000", False, 0), ("cgc-python-00000001", False, 7200),
                             ("cgc-python-00000002", True, 0)):  # fmt: skip
        (tmp_path / name).mkdir()
        if owner:
            (tmp_path / name / "owner").touch()
        _scratch._sweep_windows(str(tmp_path / name), time.time() - age)
    assert [p.name for p in tmp_path.iterdir()] == ["cgc-python-00000000"]


def test_no_command_is_left_when_reading_fails(arrays, monkeypatch):
    """If anything fails while Python waits, the child is stopped first."""
    started = []
    popen = subprocess.Popen

    def keep(*line, **options):
        started.append(popen(*line, **options))
        return started[-1]

    monkeypatch.setattr(_run.subprocess, "Popen", keep)
    monkeypatch.setattr(_run, "_listen", lambda child, shown: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        cgc.tune("demo", nodes=35, trials=100000)
    assert started[0].returncode is not None
