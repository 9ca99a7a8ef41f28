"""Makes the files of testdata/safetensors: scripts/safetensors.py DIR.

They follow the section "Format" of the README of github.com/huggingface/safetensors, and the order that its writer gives
tensors: types of larger elements first, then by name. Needs numpy.
"""

import json
import pathlib
import struct
import sys

import numpy as np

ORDER = ["U64", "I64", "F64", "F32", "U32", "I32", "BF16", "F16", "U16", "I16", "F8_E5M2FNUZ", "F8_E4M3FNUZ", "F8_E8M0", "F8_E4M3",
         "F8_E5M2", "I8", "U8", "F4", "BOOL"]
NUMPY = {"U64": "<u8", "I64": "<i8", "F64": "<f8", "F32": "<f4", "U32": "<u4", "I32": "<i4", "F16": "<f2", "U16": "<u2", "I16": "<i2",
         "I8": "i1", "U8": "u1", "BOOL": "?"}


def raw(kind, values):
    if kind == "BF16":  # the upper half of a float32, which holds these values without rounding
        return (np.asarray(values, "<f4").view("<u4") >> 16).astype("<u2").tobytes()
    if kind.startswith("F8") or kind == "F4":  # the bytes
        return bytes(values)
    return np.asarray(values).astype(NUMPY[kind]).tobytes()


def write(path, tensors, metadata=None, order=None, pad=True, **style):
    """tensors: name -> (type, shape, values). order: the names as their data lie; the header has them in that of tensors."""
    order = order or sorted(tensors, key=lambda name: (ORDER.index(tensors[name][0]), name))
    data, offsets = b"", {}
    for name in order:
        kind, _, values = tensors[name]
        piece = raw(kind, values)
        offsets[name] = [len(data), len(data) + len(piece)]
        data += piece
    header = {} if metadata is None else {"__metadata__": metadata}
    for name in (tensors if not pad else order):
        kind, shape, _ = tensors[name]
        header[name] = {"dtype": kind, "shape": shape, "data_offsets": offsets[name]}
    text = json.dumps(header, **style).encode()
    if pad:
        text += b" " * (-len(text) % 8)
    path.write_bytes(struct.pack("<Q", len(text)) + text + data)


folder = pathlib.Path(sys.argv[1])
folder.mkdir(parents=True, exist_ok=True)
compact = {"separators": (",", ":"), "ensure_ascii": False}

ends = {kind: [np.iinfo(dtype).min, np.iinfo(dtype).max, 0, 1, 2, 3] for kind, dtype in NUMPY.items() if np.dtype(dtype).kind in "iu"}
types = {"types." + kind: (kind, [2, 3], values) for kind, values in ends.items() if kind not in ("I64", "U64", "U32")}
# Integers of 32 bits and more, as far as int32 goes: what is beyond is refused.
types["types.I64"] = ("I64", [2, 3], [-2**31, 2**31 - 1, 0, 1, 2, 3])
types |= {"types." + kind: (kind, [2, 3], [0, 2**31 - 1, 0, 1, 2, 3]) for kind in ("U32", "U64")}
floats = [0.5, -2, float("inf"), float("-inf"), float("nan"), 2.0**-14]
types |= {"types." + kind: (kind, [2, 3], floats) for kind in ("F64", "F32", "F16", "BF16")}
types["types.BOOL"] = ("BOOL", [2, 3], [True, False, False, True, True, False])
types["scalar"] = ("F32", [], [42])
types["nothing"] = ("I32", [0, 3], [])
write(folder / "types.safetensors", types, {"format": "pt", "wörter": "„so“ \\ \n"}, **compact)

# The header in another order than the data, with spaces, escapes and no padding, so that no data are aligned.
write(folder / "unordered.safetensors", {"größe": ("F64", [1], [0.1]), "a": ("U8", [3], [1, 2, 3]), "m": ("F32", [2, 2], [1, 2, 3, 4])},
      order=["a", "m", "größe"], pad=False, indent=1)

write(folder / "beyond.safetensors", {"steps": ("I64", [2], [1, 2**40])}, **compact)
write(folder / "empty.safetensors", {}, **compact)

# Floats of 8 and 4 bits: every byte. Of F4 a byte is two elements, the first in its low bits.
low = {"whole." + kind: (kind, [16, 16], range(256)) for kind in ORDER if kind.startswith("F8")}
low |= {"whole.F4": ("F4", [16, 32], range(256)), "scalar": ("F8_E4M3", [], [0x2a]), "nothing": ("F8_E8M0", [0, 3], []),
        "no pair": ("F4", [2, 0], [])}
write(folder / "lowbit.safetensors", low, {"format": "pt"}, **compact)
