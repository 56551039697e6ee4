"""The build hook of the wheel, which adds the command. $GOOS and $GOARCH select another platform, as for Go."""

from __future__ import annotations

import shutil
import sys
import tempfile
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))  # builds run in another folder
import command  # noqa: E402


class CommandHook(BuildHookInterface):  # type: ignore[type-arg,misc,unused-ignore]
    """Builds the command into cgc/bin of the wheel or, for pip install -e, of the checkout."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Build the command, and set the platform of the wheel."""
        if self.target_name != "wheel":
            raise SystemExit(
                "the sources of the command are outside python/: build a wheel, or install from a checkout"
            )
        to = command.platform()
        self.folder = tempfile.mkdtemp()
        binary = Path(self.folder, command.program(to[0]))
        command.build(binary, to)
        build_data["pure_python"], build_data["tag"] = False, f"py3-none-{command.TAGS[to]}"
        if version == "editable":  # changes of Python code apply at once, changes of Go code after the next install
            own = HERE / "cgc" / "bin" / binary.name
            own.parent.mkdir(exist_ok=True)
            shutil.copy(binary, own.with_name(f".{own.name}"))
            own.with_name(f".{own.name}").replace(own)  # a running command keeps the old file
        else:
            build_data["force_include"][str(binary)] = f"cgc/bin/{binary.name}"

    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:
        """Remove the command, which is now in the wheel."""
        shutil.rmtree(self.folder, ignore_errors=True)
