"""Makes the numbers that package catalog compares operations with: python3 scripts/references DIR [FAMILY...].

Each module beside this one but cases.py is a family, and makes DIR/FAMILY.npz. Needs torch (1.13) and numpy.
"""
import importlib
import pathlib
import sys

import torch

import cases

here = pathlib.Path(__file__).parent
families = sys.argv[2:] or sorted(f.stem for f in here.glob("*.py") if f.stem not in ("__main__", "cases"))
for family in families:
    cases.start(family)
    importlib.import_module(family)
    path = pathlib.Path(sys.argv[1]) / f"{family}.npz"
    print(path, cases.finish(path), "arrays, torch", torch.__version__)
