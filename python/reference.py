"""Write docs/reference/python.md from the signatures and docstrings of the package: python3 python/reference.py.

With --check, write nothing, and fail if the page is stale. It requires the package and numpy.
"""

from __future__ import annotations

import inspect
import re
import sys
import textwrap
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))
import cgc  # noqa: E402
from cgc._parameters import FLAGS  # noqa: E402

__all__ = ["page"]

PAGE = HERE.parent / "docs" / "reference" / "python.md"
FUNCTIONS = ("condense", "tables", "load_dataset")  # with sections of their own
SHORT = (  # functions documented in one table
    "cut", "evaluate", "train", "predict", "summarize", "search", "objective", "tune", "report", "propagate", "save",
    "load", "load_model", "load_propagated",
)  # fmt: skip
EXAMPLES = ("tables",)  # the tutorial shows examples of the other functions
CLASSES = (
    "Condensed", "Graph", "Table", "Score", "Origin", "Model", "Predictions", "SearchResult", "Propagated", "Tables",
    "Error", "UnknownArgument", "GraphWarning",
)  # fmt: skip
SHARED = {"small": "cut", "on": "evaluate", "data": "search", "models": "evaluate"}  # each explained by this function
FLAGS_SAID = """\
A function with the name of a command also has most of its [flags](cli.md#flags) as keyword arguments: `label_ratio` for
`--label-ratio`, `params` for `--param`. `help(cgc.condense)` lists them, with types, defaults and an example.
"""
SHORT_HEAD = """
### All other functions

Arguments that the table does not repeat:

"""
HEAD = """\
<!-- `python3 python/reference.py` writes this page from the docstrings. -->

# Python
"""


def page() -> str:
    """Return the page."""
    if missing := set(cgc.__all__) - {*FUNCTIONS, *SHORT, *CLASSES, "__version__"}:
        sys.exit(f"the page does not mention {', '.join(sorted(missing))}")
    text = HEAD + "\n" + _prose(inspect.cleandoc(cgc.__doc__ or ""))
    text += "\n## Functions\n\n" + FLAGS_SAID + "".join(map(_function, FUNCTIONS))
    text += SHORT_HEAD + "".join(map(_shared, SHARED))
    text += "\n| function | what it does | returns |\n|---|---|---|\n" + "".join(map(_short, SHORT))
    return text + "\n## Classes\n\n| class | attributes and methods |\n|---|---|\n" + "".join(map(_class, CLASSES))


def _shared(argument: str) -> str:
    """Return the list item of an argument that several functions share."""
    return f"* `{argument}`: {_explained(SHARED[argument])[argument]}\n"


def _explained(name: str) -> dict[str, str]:
    """Return the meanings of a function's arguments."""
    return _items(_sections(getattr(cgc, name))[1]["Args"])


def _arguments(name: str) -> dict[str, str]:
    """Return the meanings of a function's arguments that are not flags, by name and default."""
    flags = {flag for flag, *_ in FLAGS.get(name, ())}
    meanings = _explained(name)
    found = {}
    for p in inspect.signature(getattr(cgc, name)).parameters.values():
        title = p.name if p.name in meanings else f"**{p.name}"
        if p.name in flags and title not in meanings:
            continue
        if not meanings[title].startswith("See "):
            found[title if p.default is p.empty else f"{title}={p.default!r}"] = meanings[title]
    return found


def _short(name: str) -> str:
    """Return the table row of a function: its arguments that are not flags, what it does, and what it returns."""
    about, sections = _sections(getattr(cgc, name))
    arguments = _arguments(name)
    shared = [_explained(of)[argument] for argument, of in SHARED.items()]
    own = {key.removesuffix("=None"): meaning for key, meaning in arguments.items() if meaning not in shared}
    lines = [" ".join(about.split()), *(f"`{key}`: {meaning}" for key, meaning in own.items())]
    returns = " ".join(sections.get("Returns", "").split())
    return f"| `{name}({', '.join(arguments)})` | {'<br>'.join(lines)} | {returns} |\n"


def _function(name: str) -> str:
    """Return the section of a function: what it does, a list of its arguments, and optionally an example."""
    about, sections = _sections(getattr(cgc, name))
    rows = [f"`{key.removesuffix('=None')}`: {meaning}" for key, meaning in _arguments(name).items()]
    rows.append(f"returns: {' '.join(sections['Returns'].split())}")
    text = f"\n### {name}\n{_wrap(' '.join(about.split()))}\n\n"
    text += "".join(f"{_wrap('* ' + row, indent='  ')}\n" for row in rows)
    example = textwrap.dedent(sections["Example"])
    return text + (f"\n```python\n{example}\n```\n" if name in EXAMPLES else "")


def _class(name: str) -> str:
    """Return the table row of a class, with a line for its description and for each attribute, property and method."""
    kind = getattr(cgc, name)
    about, sections = _sections(kind)
    lines = [" ".join(about.split())]
    lines += [f"`{key}`: {meaning}" for key, meaning in _items(sections.get("Attributes", "")).items()]
    for key, value in vars(kind).items():
        if not key.startswith("_") and isinstance(value, property):
            lines.append(f"`{key}`: {' '.join(inspect.cleandoc(value.__doc__ or '').split())}")
        elif not key.startswith("_") and inspect.isfunction(value):
            own = list(inspect.signature(value).parameters.values())[1:]
            shown = inspect.Signature([p.replace(annotation=p.empty) for p in own])
            lines.append(f"`{key}{shown}`: {' '.join(_sections(value)[0].split())}")
    return f"| **{name}** | {'<br>'.join(lines)} |\n"


def _sections(thing: Any) -> tuple[str, dict[str, str]]:
    """Return the text of a docstring before its sections, and each section."""
    about, *rest = re.split(r"^(\w+):\n", inspect.getdoc(thing) or "", flags=re.M)
    return about, {title: body.rstrip() for title, body in zip(rest[::2], rest[1::2])}


def _items(section: str) -> dict[str, str]:
    """Return the items of a section by name."""
    found = re.findall(r"^    (\S+): (.*(?:\n {5,}.*)*)", section, re.M)
    return {name: " ".join(text.split()) for name, text in found}


def _wrap(text: str, indent: str = "") -> str:
    return textwrap.fill(text, 120, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False)


def _prose(text: str) -> str:
    """Wrap paragraphs to the width of pages, but keep lists and code."""
    parts = []
    for part in text.strip().split("\n\n"):
        code, point = part.startswith(">>>"), part.startswith("* ")
        parts.append(f"```python\n{part}\n```" if code else part if point else _wrap(" ".join(part.split())))
    return "\n\n".join(parts) + "\n"


if __name__ == "__main__":
    if sys.argv[1:] not in ([], ["--check"]):
        sys.exit("expected no argument, or --check")
    if not sys.argv[1:]:
        PAGE.write_text(page(), encoding="utf-8")
    elif PAGE.read_text(encoding="utf-8") != page():
        sys.exit(f"{PAGE.name} is stale: python3 python/reference.py writes it")
