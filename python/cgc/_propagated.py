"""Propagated features, as the command writes them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Optional, Union

import numpy

from ._error import Error, path_text
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
        """Memory-map the arrays of a folder. Raise Error if one is not as info says."""
        rows, features, grows = info["rows"], info["graph"]["features"], "grows" in info
        store = {"f32": "float32", "f16": "float16"}[info["store"]]

        def array(name: str, kind: str, *shape: Optional[int]) -> Array:
            path = folder / f"{name}.npy"
            mapped: Array = numpy.load(path, mmap_mode="r", allow_pickle=False)
            if grows and isinstance(mapped, numpy.memmap) and shape[0] is not None:
                # An interrupted addition may have left more or fewer rows than the header says.
                mapped = numpy.memmap(path, mapped.dtype, "r", mapped.offset, (shape[0], *mapped.shape[1:]))
            sides = tuple(n if want is None else want for want, n in zip(shape, mapped.shape))
            if len(sides) < len(shape) or mapped.shape != sides or not mapped.dtype.name.startswith(kind):
                found = f"{mapped.dtype.name} of shape {mapped.shape}"
                must = f"{kind} of shape {shape}".replace("None", "any")
                raise Error(f"{path} is {found}, must be {must}, as propagate.json says")
            return mapped

        self.info = info
        self.hops = [array(f"hop{k}", store, rows, features) for k in range(info["hops"] + 1)]
        self.nodes, self.y = array("nodes", "int64", rows), array("y", "int64", rows)
        self.train, self.val, self.test = (
            array(part, "int64", info["graph"][part] if grows else None) for part in ("train", "val", "test")
        )
        self.ids: Optional[Array] = array("ids", "str", rows) if (folder / "ids.npy").exists() else None

    def __repr__(self) -> str:
        """Return the name of the graph, the sizes and the number type."""
        graph, (rows, features) = self.info["graph"], self.hops[0].shape
        return (
            f"Propagated({graph['name']}: {rows:,} of {graph['nodes']:,} nodes, {self.info['hops']} hops, "
            f"{features:,} features, {self.hops[0].dtype})"
        )


def load_propagated(path: Union[str, Path]) -> Propagated:
    """Memory-map a folder that propagate or `cgc propagate` wrote.

    Args:
        path: The folder.

    Returns:
        The Propagated features.

    Raises:
        Error: The folder was not written by propagate, lacks a file, or has one of another folder.

    Example:
        >>> _ = cgc.propagate("demo", "propagated", hops=1, part="train")
        >>> cgc.load_propagated("propagated").hops[1].shape
        (140, 96)
    """
    folder = Path(path_text(path))
    try:
        return Propagated(folder, json.loads((folder / "propagate.json").read_text(encoding="utf-8")))
    except (OSError, ValueError, KeyError, TypeError) as e:
        raise Error(f"{folder} has no propagated features ({e}), must be a folder of cgc.propagate") from None
