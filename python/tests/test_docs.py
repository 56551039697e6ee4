"""Signatures and docstrings: what Shift-Tab shows, and examples that run."""

import doctest
import inspect
import re
import warnings

import pytest

import cgc
from cgc._parameters import FLAGS

PUBLIC = [name for name in cgc.__all__ if name != "__version__"]
FUNCTIONS = [name for name in PUBLIC if inspect.isfunction(getattr(cgc, name))]


@pytest.mark.parametrize("name", ["", *PUBLIC])
def test_examples_run(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    thing = getattr(cgc, name) if name else cgc
    found = doctest.DocTestParser().get_doctest(inspect.getdoc(thing), {"cgc": cgc}, name or "cgc", None, 0)
    assert found.examples, f"{name} has no example"
    said: list[str] = []
    with warnings.catch_warnings():
        doctest.DocTestRunner().run(found, out=said.append)
    assert not said, "".join(said)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_docstrings_explain_every_argument(name):
    function = getattr(cgc, name)
    text, signature = inspect.getdoc(function), inspect.signature(function)
    returns = ["Returns:"] if signature.return_annotation not in (None, "None") else []
    for section in ("Args:", *returns, "Raises:", "Example:"):
        assert f"\n{section}\n" in text, f"{name} has no {section}"
    explained = re.findall(
        r"^    (?:\*\*)?([a-z_]+): ", text.partition("\nReturns:")[0].partition("\nRaises:")[0], re.M
    )
    assert sorted(explained) == sorted(signature.parameters)


@pytest.mark.parametrize("name", FLAGS)
def test_signatures_list_the_flags(name):
    signature = inspect.signature(getattr(cgc, name))
    for flag, default, _, _ in FLAGS[name]:
        assert signature.parameters[flag].kind is not inspect.Parameter.VAR_KEYWORD
        if flag != "models" or name == "tune":
            assert signature.parameters[flag].default == default
    shown = str(signature)
    assert "options" not in shown and ("seed: int = 0" in shown or name in ("cut", "predict", "propagate"))
    assert "threads: Optional[int] = None" in shown


def test_help_has_the_words_of_python():
    for name, listed in FLAGS.items():
        for flag, _, _, about in listed:
            assert not re.search(r"\b(FILE|FOLDER|GRAPH|POINTS|QUERY|flag)\b|--", about), f"{name}: {flag}: {about}"


def test_arrays_of_a_condensed_graph_may_have_any_type(tmp_path):
    api = pytest.importorskip("mypy.api")
    script = tmp_path / "own.py"
    script.write_text("import cgc\n\nsmall = cgc.Condensed([[0.5]], y=[0])\nreveal_type(small.x)\n")
    said, _, code = api.run(["--strict", "--cache-dir", str(tmp_path / "mypy"), str(script)])
    assert code == 0 and "ndarray" in said, said


def defaults(name: str, **others) -> dict:
    """Return the flags of a function with their defaults, overridden by others."""
    return {**{flag: value for flag, value, _, _ in FLAGS[name] if value is not None}, **others}


def test_the_defaults_in_signatures_are_those_of_the_command():
    small, said = cgc.condense("demo", nodes=35), cgc.condense("demo", **defaults("condense", nodes=35))
    assert small.origin.config == said.origin.config and (small.x == said.x).all()
    score = cgc.evaluate(small, "demo", epochs=20)["gcn"]
    assert score.test_mean == cgc.evaluate(small, "demo", **defaults("evaluate", epochs=20))["gcn"].test_mean
