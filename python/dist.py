"""Build the wheels of all platforms into a folder: python3 python/dist.py [FOLDER] (default dist)."""

from __future__ import annotations

import hashlib
import os
import sys
from pathlib import Path

import backend

__all__ = ["main"]


def main() -> None:
    """Build one wheel after the other, and print the size and SHA-256 of each."""
    folder = Path(sys.argv[1] if len(sys.argv) > 1 else "dist")
    folder.mkdir(parents=True, exist_ok=True)
    for system, processor in backend.TAGS:
        os.environ["GOOS"], os.environ["GOARCH"] = system, processor
        wheel = folder / backend.build_wheel(str(folder))
        data = wheel.read_bytes()
        print(f"{hashlib.sha256(data).hexdigest()}  {len(data) / 1e6:.1f} MB  {wheel}")


if __name__ == "__main__":
    main()
