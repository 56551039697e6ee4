"""Temporary folders. Each is locked by its owner; the next call removes folders whose owner was killed."""

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
from typing import Optional

__all__ = ["beside", "folder", "on_disk", "sweep"]

_PREFIX = "cgc-python-"
_NAME = re.compile(rf"\.?{_PREFIX}[a-z0-9_]{{8}}")  # names as tempfile makes them
_OWNER = "owner"  # on Windows, this file is locked instead of the folder
_FRESH = 3600.0  # on Windows, a folder without that file has no owner after this many seconds
_live: dict[str, int] = {}  # maps folders in use to the process that made them


@contextlib.contextmanager
def folder(size: int) -> Iterator[Path]:
    """Make a temporary folder for files of size bytes, and remove it with its contents at the end.

    It is in memory (/dev/shm) if there is room for twice the size, otherwise in tempfile's folder. It is also removed
    after an exception, Ctrl-C, SIGTERM or SIGHUP. Folders left there by killed processes are removed first.
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
            while lock < 0:  # another process may have removed it before it was locked
                path = tempfile.mkdtemp(prefix=prefix, dir=place)
                _live[path] = os.getpid()
                lock = _own(path)
            yield Path(path)
        finally:
            try:
                _remove(path, lock)
            except BaseException:  # a second Ctrl-C
                _remove(path, lock)
                raise


def _remove(path: str, lock: int) -> None:
    """Remove a folder and release its lock. A forked process keeps its parent's folders."""
    if _live.get(path, os.getpid()) != os.getpid():
        return
    if os.name == "nt" and lock >= 0:  # Windows does not remove open files
        with contextlib.suppress(OSError):
            os.close(lock)
    shutil.rmtree(path, ignore_errors=True)
    if _live.pop(path, None) is not None and os.name != "nt" and lock >= 0:
        os.close(lock)


def _own(path: str) -> int:
    """Lock a new folder. Return a file descriptor, or -1 if the folder no longer exists."""
    if os.name == "nt":
        try:
            return os.open(os.path.join(path, _OWNER), os.O_CREAT | os.O_RDWR)
        except FileNotFoundError:
            return -1
    return _locked(path, wait=True)


def _locked(path: str, wait: bool) -> int:
    """Lock a folder on Unix. Return a file descriptor, or -1 if the folder is gone or another process has locked it."""
    import fcntl

    try:
        lock = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
    except OSError:
        return -1
    try:
        fcntl.flock(lock, fcntl.LOCK_EX if wait else fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        if wait:  # the file system has no locks, so no other process can lock it either
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
    """Remove the folders in place whose owner has ended. Folders of other users are kept."""
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
    """Remove a folder if its owner file can be removed, which Windows prevents while a process has it open."""
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
    """Remove folders that threads still use when Python exits. A forked process keeps its parent's folders."""
    for path, process in list(_live.items()):
        if process == os.getpid():
            shutil.rmtree(path, ignore_errors=True)


def _disk() -> str:
    """Return tempfile's folder, without tempfile's test file, which a kill would leave behind."""
    if tempfile.tempdir is None:
        places = [os.environ.get(name) for name in ("TMPDIR", "TEMP", "TMP")]
        for place in [*places, "/tmp"]:
            if place and os.path.isdir(place) and os.access(place, os.W_OK | os.X_OK):
                return os.path.abspath(place)
    return tempfile.gettempdir()


def _memory(size: int) -> Optional[str]:
    """Return /dev/shm if it has room for size bytes and the same amount remains for the command, otherwise None."""
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
    """A signal that ends the process after its folders are removed."""

    def __init__(self, number: int) -> None:
        super().__init__(number)
        self.number = number


class _Handler:
    """Raises _Terminated for the first signal. When its block is over, a signal has its default effect."""

    def __init__(self) -> None:
        self.ended = 0  # the signal that was raised
        self.over = False

    def __call__(self, number: int, frame: Optional[FrameType]) -> None:
        if self.over:
            signal.signal(number, signal.SIG_DFL)
            os.kill(os.getpid(), number)
        elif not self.ended:  # a second signal does not disturb the cleanup
            self.ended = number
            raise _Terminated(number)


@contextlib.contextmanager
def _orderly() -> Iterator[None]:
    """Let SIGTERM and SIGHUP unwind the stack before they end the process.

    This applies only to the main thread and to signals with their default action. Handlers of the program are kept,
    including any that it sets inside the block. The block of an objective may end in any thread, which cannot reset
    handlers.
    """
    handler = _Handler()
    numbers = [getattr(signal, name) for name in ("SIGTERM", "SIGHUP") if hasattr(signal, name)]
    try:
        if threading.current_thread() is threading.main_thread():
            for number in numbers:
                found = signal.getsignal(number)
                if found == signal.SIG_DFL or (isinstance(found, _Handler) and found.over):
                    signal.signal(number, handler)
        yield
    finally:
        handler.over = True
        if threading.current_thread() is threading.main_thread():
            for number in numbers:
                if signal.getsignal(number) is handler:
                    signal.signal(number, signal.SIG_DFL)
        if handler.ended:
            os.kill(os.getpid(), handler.ended)
