"""The results of an evaluation."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from typing import Any, Union, overload

from ._error import Error

__all__ = ["Score", "Table"]


@dataclass(frozen=True)
class Score:
    """The accuracy of one model on the original graph, in percent, over seeds.

    Each training run is scored at the epoch with the best validation accuracy.

    Attributes:
        model: The name of the model.
        seeds: The number of training runs.
        val_mean: The mean validation accuracy.
        val_std: Its sample standard deviation, 0 for one seed.
        test_mean: The mean test accuracy.
        test_std: Its sample standard deviation, 0 for one seed.
        test_ci95: Half the width of the 95% confidence interval of test_mean by Student's t, 0 for one seed.
        seconds: The mean time of one training run.
        metrics: The means of other metrics on the test nodes, in percent: balanced (balanced accuracy) and macro_f1;
            for two classes also auc (ROC) and average_precision, of the second class.

    Example:
        >>> table = cgc.evaluate(cgc.condense("demo", nodes=70), on="demo", seeds=1, epochs=50)
        >>> table["gcn"].seeds, table["gcn"].test_std
        (1, 0)
    """

    model: str
    seeds: int
    val_mean: float
    val_std: float
    test_mean: float
    test_std: float
    test_ci95: float
    seconds: float
    metrics: Mapping[str, float]


class Table(Sequence[Score]):
    """The accuracies that evaluate returns: a sequence with a Score for each model. It prints as a table.

    Attributes:
        rows: The scores.
        over: What the standard deviations are over, such as "training seeds".

    Example:
        >>> table = cgc.evaluate(cgc.condense("demo", nodes=70), on="demo", models=["gcn", "sgc"], seeds=1, epochs=50)
        >>> table[0] is table["gcn"], len(table)
        (True, 2)
    """

    def __init__(self, rows: Sequence[Mapping[str, Any]], over: str = "training seeds") -> None:
        """Store the results of the command. over says what the standard deviations are over."""
        names = [f.name for f in fields(Score)]
        self.rows = [Score(**{n: row[n] for n in names}) for row in rows]
        self.over = over

    @overload
    def __getitem__(self, key: Union[int, str]) -> Score: ...

    @overload
    def __getitem__(self, key: slice) -> Sequence[Score]: ...

    def __getitem__(self, key: Union[int, str, slice]) -> Union[Score, Sequence[Score]]:
        """Return a row by index or model, or a slice."""
        if not isinstance(key, str):
            return self.rows[key]
        for row in self.rows:
            if row.model == key:
                return row
        raise KeyError(key)

    def __contains__(self, key: object) -> bool:
        """Return whether key is a row, or the model of a row."""
        return any(key in (row, row.model) for row in self.rows)

    def __len__(self) -> int:
        """Return the number of rows."""
        return len(self.rows)

    def to_pandas(self) -> Any:
        """Return a pandas DataFrame with a column for each field of Score. Raises Error without pandas."""
        try:
            import pandas
        except ImportError:
            raise Error("to_pandas needs pandas, which is not installed") from None
        return pandas.DataFrame([asdict(row) for row in self.rows])

    def __repr__(self) -> str:
        """Return the table as text: mean ± standard deviation, and the 95% interval of the mean."""
        lines = [["test accuracy, %", "mean ± std", "95% interval", "seeds", "seconds"]]
        for r in self.rows:
            single = r.seeds < 2
            low, high = max(0, r.test_mean - r.test_ci95), min(100, r.test_mean + r.test_ci95)
            mean = f"{r.test_mean:.1f}" if single else f"{r.test_mean:.1f} ± {r.test_std:.1f}"
            interval = "" if single else f"{low:.1f} to {high:.1f}"
            lines.append([r.model, mean, interval, str(r.seeds), f"{r.seconds:{'.2g' if r.seconds < 9.95 else '.0f'}}"])
        width = [max(len(line[c]) for line in lines) for c in range(5)]
        rest = ["".join("  " + line[c].rjust(width[c]) for c in range(1, 5)) for line in lines]
        text = [line[0].ljust(width[0]) + r for line, r in zip(lines, rest)]
        if any(r.seeds > 1 for r in self.rows):
            text += ["", f"±: standard deviation over {self.over}; interval: of the mean, by Student's t"]
        return "\n".join(text)
