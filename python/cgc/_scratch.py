"""Temporary folders. Each is locked by its owner; the next call removes those whose owner was killed."""

from __future__ import annotations

import atexit
import contextlib
import os
import re
import shutil
import signal
import tempfile
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from types import FrameType
from typing import Any, Optional

__all__ = ["beside", "folder", "on_disk", "sweep"]

_PREFIX = "cgc-python-"
_NAME = re.compile(rf"\.?{_PREFIX}[a-z0-9_]{{8}}")  # as tempfile makes them
_OWNER = "owner"  # Windows locks this file in place of the folder
_FRESH = 3600.0  # seconds after which a folder on Windows without that file has no owner any more
_live: dict[str, int] = {}  # folders in use, and the process that made them


@contextlib.contextmanager
def folder(size: int) -> Iterator[Path]:
    """Make a temporary folder for files of size bytes, and remove it with all that is in it at the end.

    It is in memory (/dev/shm) where there is room for twice the size, else in the folder of tempfile. It is also gone
    after an exception, Ctrl-C, SIGTERM and SIGHUP. What a killed process left in these places is removed first.
    """
    memory, disk = "/dev/shm", _disk()
    sweep(disk)
    if os.path.isdir(memory):
        sweep(memory)
    with _kept(_PREFIX, _memory(size) or disk) as path:
        yield path


@contextlib.contextmanager
def on_disk() -> Iterator[Path]:
    """Make a temporary folder as folder does, but never in memory."""
    disk = _disk()
    sweep(disk)
    with _kept(_PREFIX, disk) as path:
        yield path


@contextlib.contextmanager
def beside(path: Path) -> Iterator[Path]:
    """Make a hidden temporary folder in the folder of a file that is being written, and remove it at the end."""
    place = str(path.parent)
    sweep(place)
    with _kept(f".{_PREFIX}", place) as home:
        yield home


@contextlib.contextmanager
def _kept(prefix: str, place: str) -> Iterator[Path]:
    """Make a folder, lock it while it is in use, and remove it."""
    with _orderly():
        path, lock = "", -1
        try:
            while lock < 0:  # another process may have swept it away before it was locked
                path = tempfile.mkdtemp(prefix=prefix, dir=place)
                _live[path] = os.getpid()
                lock = _own(path)
            yield Path(path)
        finally:
            try:
                _remove(path, lock)
            except BaseException:  # Ctrl-C, again
                _remove(path, lock)
                raise


def _remove(path: str, lock: int) -> None:
    """Remove a folder and give back its lock."""
    if os.name == "nt" and lock >= 0:  # an open file is not removed there
        with contextlib.suppress(OSError):
            os.close(lock)
    shutil.rmtree(path, ignore_errors=True)
    if _live.pop(path, None) is not None and os.name != "nt" and lock >= 0:
        os.close(lock)


def _own(path: str) -> int:
    """Lock a new folder. Returns a file descriptor, or -1 if the folder is gone."""
    if os.name == "nt":
        try:
            return os.open(os.path.join(path, _OWNER), os.O_CREAT | os.O_RDWR)
        except FileNotFoundError:
            return -1
    return _locked(path, wait=True)


def _locked(path: str, wait: bool) -> int:
    """Lock a folder on Unix. Returns a file descriptor, or -1 if the folder is gone or another process has it."""
    import fcntl

    try:
        lock = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
    except OSError:
        return -1
    try:
        fcntl.flock(lock, fcntl.LOCK_EX if wait else fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        if wait:  # a file system without locks: nobody else can lock the folder either
            return lock
        os.close(lock)
        return -1
    try:
        if os.path.samestat(os.fstat(lock), os.lstat(path)):
            return lock
    except OSError:
        pass
    os.close(lock)
    return -1


def sweep(place: str) -> None:
    """Remove the folders in place whose owner is gone. Folders of other users stay."""
    with contextlib.suppress(OSError), os.scandir(place) as entries:
        for entry in entries:
            if not _NAME.fullmatch(entry.name) or entry.path in _live:
                continue
            with contextlib.suppress(OSError):
                status = entry.stat(follow_symlinks=False)
                if not entry.is_dir(follow_symlinks=False):
                    continue
                if os.name == "nt":
                    _sweep_windows(entry.path, status.st_mtime)
                elif status.st_uid == os.getuid() and (lock := _locked(entry.path, wait=False)) >= 0:
                    shutil.rmtree(entry.path, ignore_errors=True)
                    os.close(lock)


def _sweep_windows(path: str, changed: float) -> None:
    """Remove a folder if its owner's file can be removed: Windows keeps a file that a process has open."""
    try:
        os.unlink(os.path.join(path, _OWNER))
    except FileNotFoundError:
        if time.time() - changed < _FRESH:
            return
    except PermissionError:
        return
    shutil.rmtree(path, ignore_errors=True)


@atexit.register
def _leave() -> None:
    """Remove what threads still use when Python ends. A forked process leaves alone what is its parent's."""
    for path, process in list(_live.items()):
        if process == os.getpid():
            shutil.rmtree(path, ignore_errors=True)


def _disk() -> str:
    """Return the folder of tempfile, without the file by which tempfile tries it: a kill would leave that file."""
    if tempfile.tempdir is None:
        places = [os.environ.get(name) for name in ("TMPDIR", "TEMP", "TMP")]
        for place in [*places, "/tmp"]:
            if place and os.path.isdir(place) and os.access(place, os.W_OK | os.X_OK):
                return os.path.abspath(place)
    return tempfile.gettempdir()


def _memory(size: int) -> Optional[str]:
    """Return /dev/shm if it takes size bytes and leaves as many to the command."""
    shared = "/dev/shm"
    try:
        room = os.statvfs(shared)
        with open("/proc/meminfo", encoding="ascii") as file:
            free = int(re.search(r"MemAvailable:\s+(\d+)", file.read())[1]) * 1024  # type: ignore[index]
    except (OSError, AttributeError, TypeError):
        return None
    fits = min(room.f_bavail * room.f_frsize, free) > 2 * size + (1 << 20)
    return shared if fits and os.access(shared, os.W_OK) else None


class _Terminated(BaseException):
    """A signal that ends the process, once its folders are removed."""

    def __init__(self, number: int) -> None:
        super().__init__(number)
        self.number = number


@contextlib.contextmanager
def _orderly() -> Iterator[None]:
    """Let SIGTERM and SIGHUP unwind the stack before they end the process.

    That is done in the main thread, for signals that have their default action: a program that handles them does as it
    likes.
    """
    changed: dict[int, Any] = {}
    ended: list[int] = []

    def handler(number: int, frame: Optional[FrameType]) -> None:
        if not ended:  # the second one does not disturb what the first one began
            ended.append(number)
            raise _Terminated(number)

    try:
        if threading.current_thread() is threading.main_thread():
            for name in ("SIGTERM", "SIGHUP"):
                number = getattr(signal, name, None)
                if number is not None and signal.getsignal(number) == signal.SIG_DFL:
                    changed[number] = signal.signal(number, handler)
        yield
    finally:
        for number, action in changed.items():
            signal.signal(number, action)
        if ended:
            os.kill(os.getpid(), ended[0])
