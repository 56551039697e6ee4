"""Write the SQLite files beside this file with Python's sqlite3, as pandas.DataFrame.to_sql does: python3 write.py."""

import pathlib
import sqlite3

HERE = pathlib.Path(__file__).parent
NODES = [("ann", "red", "train", 1.0, 2), ("bob", "blue", "train", 3.0, 4), ("zoë", "red", "val", 5.0, 6),
         ("dan", None, None, 7.0, 8), ("eve", "blue", "test", 9.5, -0.25)]  # fmt: skip
EDGES = [("ann", "bob", 1.0), ("zoë", "bob", 2.5), ("dan", "eve", 1.0)]


def write(name: str, nodes: str, edges: str) -> None:
    (HERE / name).unlink(missing_ok=True)
    base = sqlite3.connect(HERE / name)
    base.execute("pragma page_size = 512")
    base.execute(f"create table {nodes} (id text primary key, label text, split text, f0 real, f1 numeric) without rowid")
    base.execute(f"create table {edges} (source text, target text, weight real)")
    base.executemany(f"insert into {nodes} values (?, ?, ?, ?, ?)", NODES)
    base.executemany(f"insert into {edges} values (?, ?, ?)", EDGES)
    base.commit()
    base.close()


write("people.sqlite", "nodes", "edges")
write("other-names.db", "people", "knows")
