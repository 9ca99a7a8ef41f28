"""Makes what NumPy prints of arrays: python3 scripts/printing.py testdata/printing.json. Needs NumPy 2.4.

A case has a type, a shape and its elements: as text, or first and step of a line of numbers.
"""
import json
import sys

import numpy as np

NAN, INF = float("nan"), float("inf")
rng = np.random.default_rng(1)

CASES = [  # type, shape, elements
    ("float32", [2, 3], [0.5, 1, 1.5, 2, 2.5, 3]),
    ("float32", [3], [0.1, -0.2, 1 / 3]),
    ("float32", [2], [-0.0, 0]),
    ("float32", [4], [1e10, 0.1, 1.23456789e10, -1]),
    ("float32", [3], [1e-5, 1, 2]),
    ("float32", [2], [1000, 1]),
    ("float32", [2], [1001, 1]),
    ("float32", [2], [999999, 123456]),
    ("float32", [2], [1e6, 1e6 + 1]),
    ("float32", [2], [1e38, 1e-38]),
    ("float32", [1], [1e-45]),
    ("float32", [5], [NAN, INF, -INF, 1, -1.25]),
    ("float32", [2], [NAN, NAN]),
    ("float32", [2], [NAN, -INF]),
    ("float32", [3], [NAN, 1e20, -INF]),
    ("float32", [0], []),
    ("float32", [2, 0, 3], []),
    ("float32", [1, 1, 1], [7]),
    ("float32", [2, 1, 2, 2], [1, 2, 3, 4, 5, 6, 7, 8]),
    ("float32", [20], list(rng.normal(size=20))),
    ("float32", [3, 17], list(rng.normal(size=51) * 10)),
    ("float32", [3, 9], list(rng.normal(size=27) * np.logspace(-3, 3, 27))),
    ("float32", [1000], (0, 1)),
    ("float32", [1001], (0, 1)),
    ("float32", [7, 143], (-3, 0.25)),
    ("float32", [6, 167], (0, 0.01)),
    ("float32", [2, 600], (0, 100)),
    ("float32", [600, 2], (0, 1)),
    ("float32", [10, 11, 12], (0, 1)),
    ("float32", [2, 7, 8, 9, 2], (0, 1)),
    ("float32", [1, 2000], (0, 1e-6)),
    ("float64", [3], [0.1, 1 / 3, 1e-9]),
    ("float64", [2], [1e8, 1]),
    ("float64", [2], [99999999, 12345678.87654321]),
    ("float64", [3], [1e100, 1, -2.5]),
    ("float64", [2], [1e300, 1e-300]),
    ("float64", [4], [1.123456789, 2.000000001, 0.5, 3.25]),
    ("float64", [2], [1.000000001e-5, 1e-5]),
    ("float64", [12], list(rng.normal(size=12))),
    ("float16", [4], [0.1, 0.2, 1 / 3, 65504]),
    ("float16", [3], [0.1, 0.2, 999]),
    ("float16", [2], [1000, 1]),
    ("float16", [3], [6e-8, 1, NAN]),
    ("bool", [2, 2], [1, 0, 0, 1]),
    ("bool", [2], [1, 1]),
    ("bool", [40], (0, 1)),
    ("int64", [3], [-9223372036854775808, 0, 9223372036854775807]),
    ("uint64", [2], [18446744073709551615, 0]),
    ("int32", [2, 2], [-1, 22, 333, -4444]),
    ("int8", [3], [-128, 0, 127]),
    ("uint8", [30], (0, 8)),
    ("uint16", [1], [65535]),
    ("int64", [50, 50], (-1000, 7)),
]
for typ, values in {
    "float64": [0.0, -0.0, 3, 0.1, 1 / 3, 1e-4, 9.9e-5, 1e15, 1e16, -1.5e20, NAN, INF, -INF],
    "float32": [0.0, 0.1, 1 / 3, 999999, 1e6, 1234567, 16777215, 1e-45, 3.4e38],
    "float16": [0.1, 999, 1000, 2048, 65504, 6e-8],
    "bool": [1, 0],
    "int32": [-7],
}.items():
    CASES += [(typ, [], [v]) for v in values]


def case(typ, shape, values):
    line = isinstance(values, tuple)
    n = int(np.prod(shape))
    numbers = np.arange(n) * values[1] + values[0] if line else values
    array = np.array(numbers, typ) if typ in ("int64", "uint64") and not line else np.array(numbers, "float64").astype(typ)
    row = {"type": typ, "shape": shape, "text": str(array.reshape(shape))}
    if line:
        row["first"], row["step"] = values
    else:
        row["values"] = [repr(v) if isinstance(v, int) else repr(float(v)) for v in values]
    return row


with open(sys.argv[1], "w") as f:
    rows = ",\n".join(json.dumps(case(*c)) for c in CASES)
    f.write(f'{{"numpy": "{np.__version__}", "cases": [\n{rows}\n]}}\n')
