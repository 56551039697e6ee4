"""The modules in the command, as a CycloneDX bill of materials."""

from __future__ import annotations

import datetime
import json
import re
import subprocess
import tempfile
from pathlib import Path
from typing import Any, Optional

import command

__all__ = ["cyclonedx"]

# Maps licences to a phrase of their text, as a pattern. Spaces match any white space.
PHRASES = {
    "Apache-2.0": r"Apache License,? Version 2\.0",
    "MPL-2.0": r"Mozilla Public License,? v(ersion|\.) 2\.0",
    "OFL-1.1": r"SIL OPEN FONT LICENSE Version 1\.1",
    "Unlicense": r"released into the public domain",
    "BSD-3-Clause": r"Redistribution and use in source and binary forms.*(Neither the name|may not be used to endorse)",
    "FTL": r"FreeType License",
    "CC-BY-4.0": r"Creative Commons Attribution 4\.0",
    "BSD-2-Clause": r"Redistribution and use in source and binary forms",
    "MIT": r"Permission is hereby granted, free of charge",
    "ISC": r"Permission to use, copy, modify,? and/or distribute this software",
}


def cyclonedx(binary: bytes, version: str, epoch: int) -> bytes:
    """Return the bill of materials of a command as JSON, from the build information in the binary."""
    with tempfile.NamedTemporaryFile() as file:
        file.write(binary)
        file.flush()
        line = ["go", "version", "-m", "-json", file.name]
        build: dict[str, Any] = json.loads(subprocess.check_output(line, text=True))
    modules = [m for m in build["Deps"] if not m["Path"].startswith("github.com/graph-condensation/cgc")]
    go = build["GoVersion"].removeprefix("go").split(" ")[0]
    components = [_component("library", "std", f"go{go}", f"pkg:golang/std@{go}", ["BSD-3-Clause"], None)]
    for m in modules:
        m = m.get("Replace") or m
        purl = f"pkg:golang/{m['Path'].lower()}@{m['Version']}"
        components.append(
            _component("library", m["Path"], m["Version"], purl, _licences(m["Path"], m["Version"]), m.get("Sum"))
        )
    own = _component(
        "application", "cgc", version, f"pkg:golang/{build['Main']['Path']}@{version}", ["Apache-2.0"], None
    )
    when = datetime.datetime.fromtimestamp(epoch, datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")
    bill = {
        "bomFormat": "CycloneDX",
        "specVersion": "1.5",
        "version": 1,
        "metadata": {"timestamp": when, "component": own},
        "components": components,
        "dependencies": [{"ref": own["bom-ref"], "dependsOn": [c["bom-ref"] for c in components]}],
    }
    return (json.dumps(bill, indent=2) + "\n").encode()


def _component(
    kind: str, name: str, version: str, purl: str, licences: list[str], checksum: Optional[str]
) -> dict[str, Any]:
    """Return one entry. checksum is the one in go.sum, which does not fit into a CycloneDX hash."""
    entry: dict[str, Any] = {"type": kind, "bom-ref": purl, "name": name, "version": version, "purl": purl}
    if licences:
        entry["licenses"] = [{"license": {"id": name}} for name in licences]
    if checksum:
        entry["properties"] = [{"name": "go.sum", "value": checksum}]
    return entry


def _licences(module: str, version: str) -> list[str]:
    """Return the SPDX names of the licences that PHRASES recognises in the module's folder in Go's cache."""
    line = ["go", "mod", "download", "-json", f"{module}@{version}"]
    folder = json.loads(subprocess.check_output(line, cwd=command.ROOT, text=True)).get("Dir", "")
    found: list[str] = []
    for path in sorted(Path(folder).iterdir()) if folder else []:
        if re.match(r"(?i)(un)?licen[cs]e|copying", path.name) and path.is_file():
            text = path.read_text(encoding="utf-8", errors="replace")
            found += [name for name, phrase in PHRASES.items() if re.search(phrase.replace(" ", r"\s+"), text, re.S)]
    if "BSD-3-Clause" in found:  # BSD-3-Clause contains the text of BSD-2-Clause
        found = [name for name in found if name != "BSD-2-Clause"]
    return sorted(set(found))
