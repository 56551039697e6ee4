"""Build the release artifacts: python3 python/dist.py [FOLDER] [--platform OS/ARCHITECTURE …] (default dist, all six).

For each platform it builds a wheel, an archive of the command with its man pages and completions, and a bill of
materials (CycloneDX). SHA256SUMS lists their checksums. Equal commits give equal bytes.
"""

from __future__ import annotations

import argparse
import gzip
import hashlib
import io
import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
import time
import zipfile
from pathlib import Path

import command
import sbom

__all__ = ["main"]

ROOT = command.ROOT


def main() -> None:
    """Build for one platform after another, and print the size and the name of each file."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("folder", nargs="?", default="dist", type=Path)
    parser.add_argument("--platform", action="append", choices=["/".join(p) for p in command.TAGS])
    said = parser.parse_args()
    platforms = [p for p in command.TAGS if not said.platform or "/".join(p) in said.platform]
    folder: Path = said.folder
    folder.mkdir(parents=True, exist_ok=True)
    shared = _shared()
    made: list[Path] = []
    for system, processor in platforms:
        wheel, program = _wheel(folder, system, processor), command.program(system)
        with zipfile.ZipFile(wheel) as archive:
            binary = archive.read(f"cgc/bin/{program}")
        name = f"cgc-{command.version()}-{system}-{processor}"
        listing = folder / f"{name}.cdx.json"
        listing.write_bytes(sbom.cyclonedx(binary, command.version(), _epoch()))
        files = {f"{name}/{program}": binary, **{f"{name}/{path}": data for path, data in shared.items()}}
        packed = folder / (name + (".zip" if system == "windows" else ".tar.gz"))
        packed.write_bytes(_zip(files) if system == "windows" else _tar(files))
        for path in (packed, wheel, listing):
            print(f"{path.stat().st_size / 1e6:6.1f} MB  {path}", flush=True)
            made.append(path)
    sums = "".join(f"{hashlib.sha256(p.read_bytes()).hexdigest()}  {p.name}\n" for p in sorted(made))
    (folder / "SHA256SUMS").write_text(sums, encoding="utf-8")


def _epoch() -> int:
    """Return the time stamp of files: $SOURCE_DATE_EPOCH, or the commit's time, or the earliest time of a zip file."""
    at = command.commit()
    return int(os.environ.get("SOURCE_DATE_EPOCH") or (at[1] if at else 315532800))


def _wheel(folder: Path, system: str, processor: str) -> Path:
    """Build the wheel of a platform."""
    with tempfile.TemporaryDirectory() as fresh:
        line = [sys.executable, "-m", "pip", "wheel", "-q", "--no-deps", "-w", fresh, str(ROOT / "python")]
        subprocess.run(line, env={**os.environ, "GOOS": system, "GOARCH": processor}, check=True)
        (wheel,) = Path(fresh).iterdir()
        return Path(shutil.copy(wheel, folder))


def _shared() -> dict[str, bytes]:
    """Return the files in all archives: README, licence, changelog, man pages and completions."""
    files = {name: (ROOT / name).read_bytes() for name in ("README.md", "LICENSE", "CHANGELOG.md")}
    with tempfile.TemporaryDirectory() as folder:
        line = ["go", "run", *command.linked(), "./cmd/cgc", "man", folder, "--quiet"]
        subprocess.run(line, cwd=ROOT, env=command.of_this_machine(), check=True, stdout=subprocess.DEVNULL)
        for path in sorted(Path(folder).rglob("*")):
            if path.is_file():
                files[path.relative_to(folder).as_posix()] = path.read_bytes()
    return files


def _mode(path: str) -> int:
    """Return the permissions of a file. Only the command is executable."""
    return 0o755 if path.endswith(("/cgc", "/cgc.exe")) else 0o644


def _tar(files: dict[str, bytes]) -> bytes:
    """Return a .tar.gz of files, sorted by name."""
    out = io.BytesIO()
    with (
        gzip.GzipFile("", "wb", 9, out, mtime=0) as packed,
        tarfile.open(fileobj=packed, mode="w", format=tarfile.USTAR_FORMAT) as archive,
    ):
        for path, data in sorted(files.items()):
            entry = tarfile.TarInfo(path)
            entry.size, entry.mode, entry.mtime = len(data), _mode(path), _epoch()
            archive.addfile(entry, io.BytesIO(data))
    return out.getvalue()


def _zip(files: dict[str, bytes]) -> bytes:
    """Return a .zip of files, sorted by name."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for path, data in sorted(files.items()):
            entry = zipfile.ZipInfo(path, time.gmtime(_epoch())[:6])
            entry.compress_type, entry.create_system = zipfile.ZIP_DEFLATED, 3
            entry.external_attr = (0o100000 | _mode(path)) << 16
            archive.writestr(entry, data)
    return out.getvalue()


if __name__ == "__main__":
    main()
