"""The command: python -m cgc condense …, or cgc condense … if the package is installed."""

from __future__ import annotations

import os
import subprocess
import sys
from typing import NoReturn

from ._error import Error
from ._run import binary

__all__ = ["main"]


def main() -> NoReturn:
    """Run the command with the arguments of this program, and exit with its code."""
    try:
        line = [binary(), *sys.argv[1:]]
    except Error as e:
        sys.exit(f"cgc: {e}")
    if os.name != "nt":
        os.execv(line[0], line)
    try:
        sys.exit(subprocess.run(line, check=False).returncode)
    except KeyboardInterrupt:  # the command received Ctrl-C too
        sys.exit(130)


if __name__ == "__main__":
    main()
