"""Propagated features, as the command writes them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Optional, Union

import numpy

from ._error import Error
from ._safetensors import Array

__all__ = ["Propagated", "load_propagated"]


class Propagated:
    """The propagated features of some nodes. Arrays are memory-mapped from files.

    Attributes:
        hops: An array for each hop, n × features: the features themselves, once propagated, and so on.
        nodes: The node of each row.
        y: The label of each row, -1 for none.
        train: The rows of the training nodes.
        val: The rows of the validation nodes.
        test: The rows of the test nodes.
        ids: The names of the nodes, or None.
        info: The contents of propagate.json: the graph, the propagation and the number type.

    Example:
        >>> found = cgc.propagate("demo", "propagated", hops=2)
        >>> len(found.hops), found.hops[2].shape, len(found.train)
        (3, (4000, 96), 140)
    """

    def __init__(self, folder: Path, info: dict[str, Any]) -> None:
        """Memory-map the arrays of a folder."""

        def array(name: str) -> Array:
            mapped: Array = numpy.load(folder / f"{name}.npy", mmap_mode="r", allow_pickle=False)
            return mapped

        self.info = info
        self.hops = [array(f"hop{k}") for k in range(info["hops"] + 1)]
        self.nodes, self.y = array("nodes"), array("y")
        self.train, self.val, self.test = array("train"), array("val"), array("test")
        self.ids: Optional[Array] = array("ids") if (folder / "ids.npy").exists() else None


def load_propagated(path: Union[str, Path]) -> Propagated:
    """Memory-map a folder that propagate or `cgc propagate` wrote.

    Args:
        path: The folder.

    Returns:
        The Propagated features.

    Raises:
        Error: The folder was not written by propagate, or lacks a file.

    Example:
        >>> _ = cgc.propagate("demo", "propagated", hops=1, part="train")
        >>> cgc.load_propagated("propagated").hops[1].shape
        (140, 96)
    """
    folder = Path(path)
    try:
        return Propagated(folder, json.loads((folder / "propagate.json").read_text(encoding="utf-8")))
    except (OSError, ValueError, KeyError) as e:
        raise Error(f"{folder} has no propagated features ({e}), must be a folder of cgc.propagate") from None
