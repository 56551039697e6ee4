"""Write the example graph, an invented shop: python3 docs/example/make.py. Every run writes the same files.

An item is bought together with others, mostly of its own department. It has eleven numeric features, one of them the
price.
"""

import csv
import random
from pathlib import Path

DEPARTMENTS = ["tea", "coffee", "cocoa", "spices"]
ITEMS, FEATURES, BOUGHT_TOGETHER, SAME_DEPARTMENT, NOISE = 800, 10, 4, 0.75, 3.2
TRAIN, VALIDATE = 20, 40  # of each department

chance = random.Random(7)
items = [f"item-{n:03}" for n in range(ITEMS)]
department = {item: chance.choice(DEPARTMENTS) for item in items}
typical = {d: [chance.gauss(0, 1) for _ in range(FEATURES)] for d in DEPARTMENTS}
of_department = {d: [i for i in items if department[i] == d] for d in DEPARTMENTS}

split = dict.fromkeys(items, "test")
for names in of_department.values():
    for place, item in enumerate(chance.sample(names, TRAIN + VALIDATE)):
        split[item] = "train" if place < TRAIN else "val"

folder = Path(__file__).parent / "shop"
folder.mkdir(exist_ok=True)
with open(folder / "nodes.csv", "w", newline="") as file:
    out = csv.writer(file, lineterminator="\n")
    out.writerow(["id", "label", "split", "price", *(f"f{k}" for k in range(FEATURES))])
    for item in items:
        price = f"{chance.lognormvariate(8, 1.5):.0f}"
        numbers = (f"{chance.gauss(mean, NOISE):.2f}" for mean in typical[department[item]])
        out.writerow([item, department[item], split[item], price, *numbers])

with open(folder / "edges.csv", "w", newline="") as file:
    out = csv.writer(file, lineterminator="\n")
    out.writerow(["source", "target"])
    pairs = set()
    for item in items[:-1]:  # nobody bought the last item
        for _ in range(BOUGHT_TOGETHER // 2):
            same = chance.random() < SAME_DEPARTMENT
            other = chance.choice(of_department[department[item]] if same else items[:-1])
            if other not in (item, items[-1]) and (other, item) not in pairs:
                pairs.add((item, other))
    out.writerows(sorted(pairs))

folder = Path(__file__).parent / "new-nodes"  # three items that came later, each bought together with known ones
folder.mkdir(exist_ok=True)
with open(folder / "nodes.csv", "w", newline="") as file, open(folder / "edges.csv", "w", newline="") as joined:
    out, edges = csv.writer(file, lineterminator="\n"), csv.writer(joined, lineterminator="\n")
    out.writerow(["id", "price", *(f"f{k}" for k in range(FEATURES))])
    edges.writerow(["source", "target"])
    for name, kind in (("new-0", "tea"), ("new-1", "cocoa"), ("new-2", "tea")):
        numbers = (f"{chance.gauss(mean, NOISE):.2f}" for mean in typical[kind])
        out.writerow([name, f"{chance.lognormvariate(8, 1.5):.0f}", *numbers])
        edges.writerows([name, other] for other in chance.sample(of_department[kind], BOUGHT_TOGETHER))
