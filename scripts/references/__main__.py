"""Makes the numbers that package catalog compares operations with: python3 scripts/references DIR [FAMILY...].

Each module beside this one but cases.py is a family, and makes DIR/FAMILY.txt. Cases that a file has
keep their numbers; new ones are computed with PyTorch, or by their formula: see cases.py. Needs numpy.
"""
import importlib
import pathlib
import sys

import cases

here = pathlib.Path(__file__).parent
families = sys.argv[2:] or sorted(f.stem for f in here.glob("*.py") if f.stem not in ("__main__", "cases"))
for family in families:
    path = pathlib.Path(sys.argv[1]) / f"{family}.txt"
    cases.start(family, path)
    importlib.import_module(family)
    count, new = cases.finish(path)
    print(path, count, "cases; new:", ", ".join(new) or "none")
