"""Write own.mat.b64 with scipy.io.savemat: the path 3-0-1-2 in the layout of Facebook100."""

import base64
import io
from pathlib import Path

import numpy as np
import scipy.io
import scipy.sparse as sp

adjacency = sp.csc_matrix((np.ones(6), ([0, 1, 1, 2, 3, 0], [1, 0, 2, 1, 0, 3])), (4, 4))
people = np.array(
    [[1, 1, 9, 0, 3, 2007, 0], [1, 2, 0, 0, 3, 2006, 0], [2, 2, 7, 0, 3, 2005, 0], [1, 0, 7, 0, 3, 2004, 50000]],
    np.uint16,
)
file = io.BytesIO()
scipy.io.savemat(file, {"A": adjacency, "local_info": people}, do_compression=True)
text = base64.encodebytes(file.getvalue()).decode()
Path(__file__).with_name("own.mat.b64").write_text(text, encoding="ascii")
