"""Bring propagated features up to date with a database, and condense them. A scheduler can call it every night.

python nightly.py shop.db growing small.safetensors [--nodes 20] propagates all nodes of an SQLite file the first time.
Later calls add the nodes with greater ids and their edges, and set labels that arrived late. The tables are nodes (id,
label, split and features) and edges (source, target). Ids are integers in the order of arrival. To forget nodes that
were deleted, begin with a new folder.
"""

import argparse
import sqlite3
from contextlib import closing
from pathlib import Path

import cgc

parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
parser.add_argument("database")
parser.add_argument("folder", type=Path)
parser.add_argument("small")
parser.add_argument("--nodes", type=int, default=20)
options = parser.parse_args()

if options.folder.exists():
    known = cgc.load_propagated(options.folder)
    last = len(known.nodes) - 1 if known.ids is None else int(known.ids[-1])
    with closing(sqlite3.connect(options.database)) as database:
        new = database.execute("select count(*) from nodes where id > ?", [last]).fetchone()[0]
    if new:  # if the script is killed, the next call continues from what the folder has
        nodes, edges = (
            f"select * from nodes where id > {last}",
            f"select * from edges where max(source, target) > {last}",
        )
        cgc.propagate(options.database, options.folder, add=True, nodes_sql=nodes, edges_sql=edges)
    labels = f"select id, label, split from nodes where id <= {last}"
    cgc.propagate(options.database, options.folder, relabel=True, nodes_sql=labels)
else:
    new = len(cgc.propagate(options.database, options.folder, causal=True).nodes)
small = cgc.condense(embeddings=options.folder, causal=True, method="cgc", nodes=options.nodes)
small.save(options.small)
print(f"{new} new nodes, {len(small.y)} condensed nodes in {options.small}")
