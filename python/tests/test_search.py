"""The objective for Optuna."""

from pathlib import Path

import numpy as np
import optuna
import pytest

import cgc

optuna.logging.set_verbosity(optuna.logging.WARNING)
FEW = {"models": ["gcn", "sgc"], "hidden": [16, 32], "learning_rate": [0.01, 0.05]}


@pytest.fixture(scope="module")
def small():
    return cgc.condense("demo", nodes=35)


def study_of(objective, trials):
    study = optuna.create_study(direction="maximize", sampler=optuna.samplers.TPESampler(seed=1))
    study.optimize(objective, n_trials=trials)
    return study


def test_a_trial_is_an_evaluation(small):
    study = study_of(cgc.objective(small, "demo", space=FEW, epochs=20, seed=3), 4)
    for trial in study.trials:
        assert set(trial.params) == {"lr" if name == "learning_rate" else name for name in cgc._parameters.SPACE}
        assert trial.params["hidden"] in FEW["hidden"] and trial.params["models"] in FEW["models"]
        table = cgc.evaluate(small, on="demo", seeds=1, epochs=20, seed=3, **trial.params)
        assert trial.value == table[0].val_mean
    assert len({t.value for t in study.trials}) > 1


def test_a_graph_in_memory_is_written_once_and_removed_at_the_end(small, monkeypatch):
    graph = cgc.load_dataset("demo")
    folders = set()
    real = cgc._api.run

    def noted(line, *rest):
        folders.add(Path(line[1]).parent)
        assert Path(line[1]).is_file()
        return real(line, *rest)

    monkeypatch.setattr(cgc._api, "run", noted)
    objective = cgc.objective(small, graph, space=FEW, epochs=5)
    study_of(objective, 3)
    assert len(folders) == 1 and folders.pop().is_dir() is True
    before = [Path(t) for t in cgc._scratch._live]
    del objective
    assert not any(path.exists() for path in before)


@pytest.mark.parametrize(
    ("wrong", "named"),
    [
        ({"space": {"learning_rate": [0.1]}, "lr": 0.2}, "space has learning_rate and lr is given"),
        ({"space": {"widths": [16]}}, "space has widths, must have some of models, hidden"),
        ({"space": {"hidden": 16}}, "space has hidden 16, must be a list of values"),
        ({"space": {"hidden": []}}, r"space has hidden \[\], must have at least 1 value"),
        ({"space": {"dropout": [0.5, float("nan")]}}, "space has dropout nan, must have finite numbers"),
        ({"space": {"learning_rate": np.array([np.inf])}}, "space has learning_rate inf, must have finite numbers"),
        ({"space": ["hidden"]}, "space is a list, must be a dictionary of lists of values"),
        ({"models": ["gcn", "sgc"]}, "models is gcn,sgc, must be one model: a space may have several"),
        ({"space": {"models": "gcn"}}, "space has models 'gcn', must be a list of values"),
        ({"epoch": 5}, "epochs"),
        ({"epochs": np.array([1, 2])}, "epochs"),
    ],
)
def test_mistakes_are_named_before_the_first_trial_or_in_it(small, wrong, named):
    with pytest.raises(cgc.Error, match=named):
        study_of(cgc.objective(small, "demo", **wrong), 1)


def test_what_is_given_is_not_in_the_space(small):
    study = study_of(cgc.objective(small, "demo", models="gcn", hidden=16, epochs=2), 2)
    assert all({"models", "hidden"}.isdisjoint(trial.params) for trial in study.trials)


def test_a_warning_about_the_graph_is_given_once(arrays):
    bare = {name: arrays[name] for name in ("x", "y", "edge_index")}
    with pytest.warns(cgc.GraphWarning, match="without a split"):
        small = cgc.condense(bare, nodes=6)
    with pytest.warns(cgc.GraphWarning, match="without a split") as found:
        study_of(cgc.objective(small, bare, epochs=2), 3)
    assert len(found) == 1 and found[0].filename == __file__


def test_a_space_may_hold_arrays():
    space = {"hidden": range(8, 10), "learning_rate": np.array([0.01, 0.02]), "dropout": (np.float32(0.5),)}
    found = cgc.search("demo", nodes=21, models=["sgc"], space=space, trials=3, epochs=2, finalists=0)
    assert found.result["space"] == 32 and found.best["dropout"] == 0.5
    small = cgc.condense("demo", nodes=21)
    trial = study_of(cgc.objective(small, "demo", models="sgc", space=space, epochs=2), 1).trials[0]
    assert type(trial.params["lr"]) is float and trial.params["hidden"] in (8, 9)


def test_models_with_parameters_of_their_own():
    names = ["gcn:layers=3", "appnp:hops=5:alpha=0.2"]
    found = cgc.search("demo", nodes=21, space={"models": names, "hidden": [8]}, trials=9, epochs=3, finalists=0)
    assert {trial["models"] for trial in found.trials} == set(names)
    assert found.best["models"] in names
    with pytest.raises(cgc.Error, match="space has layers of gcn is 9, must be an integer from 1 to 8"):
        cgc.search("demo", space={"models": ["gcn:layers=9"]})
    with pytest.raises(cgc.Error, match="models: layers of gcn is 9, must be an integer from 1 to 8"):
        cgc.search("demo", models="gcn:layers=9")


def test_mistakes_in_the_space_of_a_search():
    with pytest.raises(cgc.Error, match="space has models and models is given"):
        cgc.search("demo", space={"models": ["sgc"]}, models=["gcn"])
    with pytest.raises(cgc.Error, match=r"^space has hidden: 8\.5, must be an integer$"):
        cgc.search("demo", space={"hidden": [8.5]})
    with pytest.raises(cgc.Error, match=r"^space has hidden 0, must be at least 1$"):
        cgc.search("demo", space={"hidden": [0]})
    with pytest.raises(cgc.Error, match=r"^space has weight_decay 0\.5, must be listed only once$"):
        cgc.search("demo", space={"weight_decay": [0.5, 0.1, 0.5]})
