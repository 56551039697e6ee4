"""Write the files of this folder, in base 64: python3 make.py [SUFFIX], with torch and torch_geometric.

Torch 1.13 and torch_geometric 2.8.1 wrote the files without a suffix. With a suffix such as -torch-2.15, the script
writes only the files that depend on torch. All files hold the path 3-0-1-2 with labels 0 1 1 0 and the split
0 1 | 2 | 3, unless the name says otherwise.
"""

import base64
import pathlib
import sys
import tempfile
import types

import numpy as np
import torch
from torch_geometric.data import Data, HeteroData, InMemoryDataset
from torch_geometric.transforms import ToSparseTensor

suffix = sys.argv[1] if len(sys.argv) > 1 else ""
here = pathlib.Path(__file__).parent
work = pathlib.Path(tempfile.mkdtemp())


def keep(name, path):
    text = base64.b64encode(pathlib.Path(path).read_bytes()).decode()
    lines = [text[i : i + 120] for i in range(0, len(text), 120)]
    (here / f"{name}{suffix}.pt.b64").write_text("\n".join(lines) + "\n")


def save(name, value, **options):
    torch.save(value, work / f"{name}.pt", **options)
    if not suffix or name in ("data", "sparse", "adj_t", "untyped", "legacy"):
        keep(name, work / f"{name}.pt")


def mask(*nodes):
    return torch.isin(torch.arange(4), torch.tensor(nodes))


def data(**more):
    return Data(
        x=torch.arange(1.0, 9).reshape(4, 2),
        y=torch.tensor([0, 1, 1, 0]),
        edge_index=torch.tensor([[0, 1, 1, 2, 3, 0], [1, 0, 2, 1, 0, 3]]),
        train_mask=mask(0, 1),
        val_mask=mask(2),
        test_mask=mask(3),
        **more,
    )


save("data", data(note="some text", seed=7, share=0.5, nothing=None))
save("dict", data().to_dict())
save("legacy", data(), _use_new_zipfile_serialization=False)
if not suffix:
    InMemoryDataset.save([data()], work / "processed.pt")
    keep("processed", work / "processed.pt")
    InMemoryDataset.save([data(), data(), data()], work / "three.pt")
    keep("three", work / "three.pt")
save("processed-1", (data(), {"x": torch.tensor([0, 4]), "y": torch.tensor([0, 4])}))
save("adj_t", ToSparseTensor()(data()))

wide = torch.zeros(4, 6, dtype=torch.half)
wide[:, 1:3] = torch.arange(1.0, 9).reshape(4, 2)
splits = torch.stack([mask(0, 1), mask(2, 3)], 1)
save("strides", {
    "x": wide[:, 1:3],
    "y": torch.tensor([[9, 0], [9, 1], [9, 1], [9, 0]], dtype=torch.int32)[:, 1:],
    "edge_index": torch.tensor([[0, 1], [1, 2], [3, 0]]).t(),
    "train_mask": splits,
    "val_mask": mask(2).float(),
    "test_mask": mask(3).to(torch.uint8),
})
save("index", {
    "x": torch.arange(1.0, 9).reshape(4, 2).bfloat16(),
    "y": np.array([0.0, 1.0, 1.0, 0.0]),
    "edge_index": np.array([[0, 1, 3], [1, 2, 0]]),
    "edge_weight": torch.ones(1).expand(3),
    "split_idx": {"train": torch.tensor([1, 0]), "valid": [2], "test": np.array([3])},
})
save("sparse", {
    **data().to_dict(),
    "x": torch.arange(1.0, 9).reshape(4, 2).to_sparse(),
    "adj_t": None,
})
if suffix:
    save("untyped", {**data().to_dict(), "y": torch.tensor([0, 1, 1, 0]).to(torch.uint16)})
    sys.exit()

hetero = HeteroData()
hetero["paper"].x = torch.zeros(4, 2)
save("hetero", hetero)


class Unknown:
    pass


save("unknown", Data(x=torch.zeros(4, 2), extra=Unknown()))

# Files of older versions, which cannot be installed here: classes with the same names and attributes imitate them.


def stand_in(module, name, attributes):
    kind = type(name, (), {"__module__": module})
    sys.modules.setdefault(module, types.ModuleType(module))
    before = getattr(sys.modules[module], name, None)
    setattr(sys.modules[module], name, kind)
    made = kind()
    made.__dict__.update(attributes)
    return made, lambda: before and setattr(sys.modules[module], name, before)


sys.modules.setdefault("torch_sparse", types.ModuleType("torch_sparse"))
fields = {**data().to_dict(), "edge_attr": None, "pos": None, "norm": None, "face": None}
old, restore = stand_in("torch_geometric.data.data", "Data", fields)
save("data-1", old)
restore()
storage, _ = stand_in("torch_sparse.storage", "SparseStorage", {
    "_row": torch.tensor([0, 0, 1, 1, 2, 3]), "_rowptr": None, "_col": torch.tensor([1, 3, 0, 2, 1, 0]),
    "_value": None, "_sparse_sizes": (4, 4), "_rowcount": None, "_colptr": None, "_colcount": None,
    "_csr2csc": None, "_csc2csr": None,
})  # fmt: skip
matrix, _ = stand_in("torch_sparse.tensor", "SparseTensor", {"storage": storage})
save("torch_sparse", {**{k: v for k, v in data().to_dict().items() if k != "edge_index"}, "adj_t": matrix})
