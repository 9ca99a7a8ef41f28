"""Comparisons, choices by masks, and bits."""
import numpy as np

from cases import INF, NAN, case, ints, normal, torch

SPECIAL = [INF, -INF, 0.0, -0.0, 1.0, -1.0, 2.0, NAN]
BINARY = {
    "Eq": torch.eq, "Ne": torch.ne, "Lt": torch.lt, "Le": torch.le, "Gt": torch.gt, "Ge": torch.ge, "LogicalAnd": torch.logical_and,
    "LogicalOr": torch.logical_or, "LogicalXor": torch.logical_xor, "IsClose": lambda x, y: torch.isclose(x, y, 0.25, 0.5),
    "IsCloseOrNaN": lambda x, y: torch.isclose(x, y, 0.25, 0.5, True),
}
for name, f in BINARY.items():
    case(name, "broadcast", f, np.round(normal(3, 1, 5)), np.round(normal(4, 1)))
    case(name, "special", f, [[v] for v in SPECIAL], [SPECIAL])
    case(name, "ints", f, ints(-3, 3, 4, 1), ints(-3, 3, 5))
    case(name, "empty", f, normal(0, 3), normal(3))

UNARY = {"IsNaN": torch.isnan, "IsInf": torch.isinf, "IsFinite": torch.isfinite, "LogicalNot": torch.logical_not,
         "EqScalar": lambda x: x == 1, "NeScalar": lambda x: x != 1, "LtScalar": lambda x: x < 1, "LeScalar": lambda x: x <= 1, "GtScalar": lambda x: x > 1,
         "GeScalar": lambda x: x >= 1}
for name, f in UNARY.items():
    case(name, "odd", f, np.round(normal(3, 1, 5)))
    case(name, "special", f, SPECIAL)
    case(name, "ints", f, ints(-3, 3, 7))
    case(name, "empty", f, normal(0, 3))


def where(x, mask, y):
    return torch.where(mask, x, y)


case("Where", "broadcast", where, normal(3, 1, 5), ints(0, 2, 4, 1).astype(bool), normal(1))
case("Where", "special", where, [INF, NAN, 1, -INF], np.array([1, 0, 1, 0], bool), [NAN, 2, INF, 0])
case("Where", "empty", where, normal(0, 3), np.zeros((3,), bool), normal(1, 3))
fill = lambda x, mask: torch.where(mask, torch.tensor(1.5), x)
case("MaskedFill", "broadcast", fill, normal(5), ints(0, 2, 4, 1).astype(bool))
case("MaskedFill", "special", fill, [INF, NAN, 1, -INF], np.array([1, 1, 1, 0], bool))
select = lambda x, mask: torch.masked_select(x, mask)
case("MaskedSelect", "broadcast", select, normal(3, 1, 5), ints(0, 2, 4, 1).astype(bool))
case("MaskedSelect", "special", select, [INF, NAN, 1, -INF], np.array([1, 1, 1, 0], bool))
case("MaskedSelect", "none", select, normal(3, 2), np.zeros((2,), bool))

BITS = {"BitwiseAnd": torch.bitwise_and, "BitwiseOr": torch.bitwise_or, "BitwiseXor": torch.bitwise_xor}
ENDS = np.array([0, 1, -1, 2**31 - 2, -(2**31) + 2, 85], np.int32)
for name, f in BITS.items():
    case(name, "broadcast", f, ints(-(2**31) + 1, 2**31, 4, 1), ints(-(2**31) + 1, 2**31, 5))
    case(name, "special", f, ENDS[:, None], ENDS)
    case(name, "bytes", f, ints(0, 256, 4, 1).astype(np.uint8), ints(0, 256, 5).astype(np.uint8))
case("BitwiseNot", "odd", torch.bitwise_not, ints(-(2**31) + 1, 2**31, 7))
case("BitwiseNot", "special", torch.bitwise_not, ENDS)
case("BitwiseNot", "bytes", torch.bitwise_not, ints(0, 256, 5).astype(np.uint8))
case("BitwiseLeftShift", "broadcast", torch.bitwise_left_shift, ints(-100, 100, 4, 1), ints(0, 20, 5))
case("BitwiseLeftShift", "special", torch.bitwise_left_shift, np.array([0, 1, -1], np.int32), np.array([31, 30, 30], np.int32))
case("BitwiseRightShift", "broadcast", torch.bitwise_right_shift, ints(-(2**31) + 1, 2**31, 4, 1), ints(0, 32, 5))
case("BitwiseRightShift", "special", torch.bitwise_right_shift, ENDS[:, None], np.array([0, 1, 31], np.int32))
