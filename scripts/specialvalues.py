"""Makes the table of special values: python3 scripts/specialvalues.py testdata/references/special.csv.

A function that the table has keeps its rows. To regenerate them, delete them. A new one needs PyTorch,
or rows that are written by hand; the message says which. Needs numpy.

A row has a function of package kernels, or a loss of internal/ops, by its name there (after which a
scalar may stand that is not the one of its tests); its operands x, w and v: NaN, infinities, zeros,
and some other numbers where there are several; its value; its gradients by each operand, for a
gradient of 1 of the value; and at 0 the second derivative of one operand. Numbers are PyTorch's.
Where clgrad has others, they are clgrad's, and the note has PyTorch's and the reason; these are
listed in OTHER. What is empty PyTorch has not: internal/ops compares nothing there.

PyTorch's loops for vectors and for single elements differ at NaN: numbers are those of COUNT
elements, of which the vectors are, and a note has those of one. The first were made with torch 1.13;
in 2.15 Atan2's gradients at the origin are 0, ClampTensor's at NaN are 1, and ELU, SELU and CELU of
-0 are -0.
"""
import csv
import itertools
import math
import sys

from references.cases import SOURCE, F, torch

NAN, INF = math.nan, math.inf

UNARY = {
    "copy": lambda x: x * 1, "neg": torch.neg, "abs": torch.abs, "sign": torch.sign, "sqrt": torch.sqrt, "exp": torch.exp, "log": torch.log, "square": torch.square,
    "relu": torch.relu, "leaky_relu": lambda x: F.leaky_relu(x, 0.1), "sine": lambda x: torch.sin(2 * x), "tanh": torch.tanh, "sigmoid": torch.sigmoid,
    "softplus": lambda x: F.softplus(x, threshold=1e9), "pow": lambda x: x ** 2.5, "pow 0.5": lambda x: x ** 0.5, "pow 2": lambda x: x ** 2, "pow 3": lambda x: x ** 3,
    "pow -1": lambda x: x ** -1.0, "pow 0": lambda x: x ** 0.0, "clamp": lambda x: torch.clamp(x, -1, 1), "add_scalar": lambda x: x + 1.5,
    "sub_scalar": lambda x: x - 1.5, "mul_scalar": lambda x: x * 1.5, "div_scalar": lambda x: x / 1.5, "max_scalar": lambda x: torch.clamp(x, min=0.5),
    "min_scalar": lambda x: torch.clamp(x, max=0.5), "rsub_scalar": lambda x: 1.5 - x, "rdiv_scalar": lambda x: 1.5 / x, "sin": torch.sin, "cos": torch.cos,
    "tan": torch.tan, "asin": torch.asin, "acos": torch.acos, "atan": torch.atan, "sinh": torch.sinh, "cosh": torch.cosh, "asinh": torch.asinh, "acosh": torch.acosh,
    "atanh": torch.atanh, "exp2": torch.exp2, "expm1": torch.expm1, "log2": torch.log2, "log10": torch.log10, "log1p": torch.log1p, "rsqrt": torch.rsqrt,
    "reciprocal": torch.reciprocal, "erf": torch.erf, "erfc": torch.erfc, "erfinv": torch.erfinv, "floor": torch.floor, "ceil": torch.ceil, "round": torch.round,
    "trunc": torch.trunc, "frac": torch.frac, "nan_to_num": lambda x: torch.nan_to_num(x, 0.5, 7, -8), "gelu": F.gelu,
    "gelu_tanh": lambda x: F.gelu(x, approximate="tanh"), "silu": F.silu, "elu": lambda x: F.elu(x, 0.7), "selu": F.selu, "celu": lambda x: F.celu(x, 0.7),
    "softsign": F.softsign, "mish": F.mish, "hardswish": F.hardswish, "hardsigmoid": F.hardsigmoid, "hardtanh": lambda x: F.hardtanh(x, -1, 1), "relu6": F.relu6,
    "log_sigmoid": F.logsigmoid, "softplus_beta": lambda x: F.softplus(x, 1.5, 6),
    "hardshrink": F.hardshrink, "softshrink": F.softshrink, "lgamma": torch.lgamma, "digamma": torch.digamma, "logit": torch.logit,
    "eq_scalar": lambda x: x == 1, "ne_scalar": lambda x: x != 1, "lt_scalar": lambda x: x < 1, "le_scalar": lambda x: x <= 1, "gt_scalar": lambda x: x > 1,
    "ge_scalar": lambda x: x >= 1, "is_nan": torch.isnan, "is_inf": torch.isinf, "is_finite": torch.isfinite, "logical_not": torch.logical_not,
}
BINARY = {
    "add": torch.add, "sub": torch.sub, "mul": torch.mul, "div": torch.div, "min": torch.minimum, "max": torch.maximum, "atan2": torch.atan2, "hypot": torch.hypot,
    "pow_tensor": torch.pow, "copysign": torch.copysign, "heaviside": torch.heaviside, "fmod": torch.fmod, "remainder": torch.remainder,
    "floor_divide": lambda x, w: torch.div(x, w, rounding_mode="floor"),
    "trunc_divide": lambda x, w: torch.div(x, w, rounding_mode="trunc"), "log_add_exp": torch.logaddexp, "xlogy": torch.xlogy,
    "prelu": torch._prelu_kernel, "is_close_or_nan": lambda x, w: torch.isclose(x, w, 0.25, 0.5, True), "lerp": lambda x, w: torch.lerp(x, w, 0.7),
    "eq": torch.eq, "ne": torch.ne, "lt": torch.lt, "le": torch.le, "gt": torch.gt, "ge": torch.ge,
    "is_close": lambda x, w: torch.isclose(x, w, 0.25, 0.5), "logical_and": torch.logical_and, "logical_or": torch.logical_or, "logical_xor": torch.logical_xor,
    "absolute_error": lambda x, w: F.l1_loss(x, w, reduction="none"), "squared_error": lambda x, w: F.mse_loss(x, w, reduction="none"),
    "huber": lambda x, w: F.huber_loss(x, w, reduction="none", delta=0.7), "smooth_l1": lambda x, w: F.smooth_l1_loss(x, w, reduction="none", beta=0.7),
    "log_divergence": lambda x, w: F.kl_div(x, w, reduction="none", log_target=True),
}
# Masks and targets, of one of these values.
MASKED = {"masked_fill": (lambda x, m: torch.where(m != 0, torch.tensor(1.5), x), [0, 1]),
          "hinge_embedding": (lambda x, t: F.hinge_embedding_loss(x, t, reduction="none", margin=1), [-1, 1]),
          "binary_cross_entropy": (lambda x, t: F.binary_cross_entropy_with_logits(x, t, reduction="none"), [0, 0.25, 1]),
          "divergence": (lambda x, t: F.kl_div(x, t, reduction="none"), [0, 0.5])}
TERNARY = {"lerp_tensor": torch.lerp, "clamp_tensor": torch.clamp, "where": lambda x, w, m: torch.where(m != 0, x, w),
           "weighted_binary_cross_entropy": lambda x, t, p: F.binary_cross_entropy_with_logits(x, t, pos_weight=p, reduction="none")}
THIRD = {"lerp_tensor": [NAN, 0, 0.25, 1], "where": [0, 1], "weighted_binary_cross_entropy": [0.5, 2]}

COUNT = 64


def is_nan(*places):
    return lambda *p: any(math.isnan(p[i]) for i in places)


def always(*p):
    return True


def sign(v):
    return math.copysign(1, v)


NUMPY = "NaN stays, as in NumPy"
PASSES = "NaN is inside the limits, as documented"
BY_ABS = "sign(x)·g, of which NaN stays, as documented"
SIDE = "has no second derivative at 0: it is that of x <= 0, as the first"
# Functions, a field, where, what clgrad has there, and why.
OTHER = [
    ("sign", "value", is_nan(0), lambda x: NAN, NUMPY),
    ("sign", "value", lambda x: x == 0, lambda x: x, "of 0 it is x, with its sign"),
    ("heaviside", "value", is_nan(0), lambda x, w: NAN, NUMPY),
    ("abs", "dx", is_nan(0), lambda x: NAN, BY_ABS),
    ("absolute_error", "dx", lambda x, w: math.isnan(x - w), lambda x, w: NAN, BY_ABS),
    ("absolute_error", "dw", lambda x, w: math.isnan(x - w), lambda x, w: NAN, BY_ABS),
    ("relu", "dx", is_nan(0), lambda x: 0, "g where x > 0, else 0, as documented"),
    ("clamp max_scalar min_scalar hardtanh relu6", "dx", is_nan(0), lambda x: 1, PASSES),
    ("pow", "value", lambda x: x == -INF, lambda x: INF, "C's pow; PyTorch takes the square root"),
    ("pow", "dx", lambda x: x == -INF, lambda x: 0, "p·x^(p-1)·g by C's pow; PyTorch takes the square root"),
    ("pow", "dx", lambda x: sign(x) < 0 and x == 0, lambda x: INF, "p·x^(p-1)·g by C's pow; PyTorch takes the square root"),
    ("pow", "value", lambda x: x == 0, lambda x: 0.0, "C's pow; PyTorch takes the square root"),
    ("hardshrink softshrink", "dx", is_nan(0), lambda x: 1, "g unless |x| is at most lambda, as documented"),
    ("digamma", "second", lambda x: sign(x) < 0, lambda x: INF, "the limit of -2/x^3"),
    ("logit", "second", always, lambda x: -INF, "the limit of (2x - 1)/(x·(1 - x))^2; PyTorch has a quotient of infinities"),
    ("gelu_tanh", "dx", lambda x: math.isinf(x), lambda x: 1 if x > 0 else 0, "the limit; PyTorch has Inf - Inf"),
    ("softsign", "dx", lambda x: math.isinf(x), lambda x: 0, "g/(1 + |x|)^2; PyTorch has Inf/Inf"),
    ("elu selu celu", "value", lambda x: x == 0, lambda x: x, "expm1(-0) is -0, as in PyTorch 2"),
    ("elu", "second", always, lambda x: 0.7, SIDE),
    ("selu", "second", always, lambda x: 1.0507009873554805 * 1.6732632423543772, SIDE),
    ("celu", "second", always, lambda x: 1 / 0.7, SIDE),
    ("log_sigmoid", "value", lambda x: x == INF, lambda x: -0.0, "the limit of what is below 0"),
    ("copysign", "dx", lambda x, w: math.isnan(x) or math.isinf(x), lambda x, w: sign(x) * sign(w), "1 or -1 by the signs; PyTorch has a quotient of infinities"),
    ("hinge_embedding", "dx", lambda x, t: math.isnan(x) and t == -1, lambda x, t: -1, "NaN is inside the margin"),
    ("binary_cross_entropy", "value", lambda x, t: x == -INF and t > 0, lambda x, t: INF, "the limit; PyTorch has Inf - Inf"),
    ("weighted_binary_cross_entropy", "value", lambda x, t, p: x == -INF and t > 0, lambda x, t, p: INF, "the limit; PyTorch has Inf - Inf"),
    ("divergence", "value", lambda x, t: t == 0 and not math.isnan(x), lambda x, t: 0, "0 where the target is, as documented, of infinite scores too"),
    ("divergence", "dw", lambda x, t: t == 0 and not math.isnan(x), lambda x, t: 0, "0 where the target is; PyTorch has log 0"),
]


def number(v):
    return repr(float(v))


def evaluate(f, point, count):
    """Returns the value, the gradients and the second derivative of count equal elements, or None where there is none."""
    operands = [torch.full((count,), float(v)).requires_grad_() for v in point]
    try:
        y = f(*operands)
    except RuntimeError:  # some operand has no gradient
        operands = [operands[0]] + [v.detach() for v in operands[1:]]
        y = f(*operands)
    found = {"value": y}
    if y.requires_grad and y.is_floating_point():
        wanted = [i for i, v in enumerate(operands) if v.requires_grad]
        try:
            ds = torch.autograd.grad(y, [operands[i] for i in wanted], torch.ones_like(y), create_graph=True, allow_unused=True)
        except RuntimeError:  # it is not implemented
            ds = []
        for i, d in zip(wanted, ds):
            found["dx dw dv".split()[i]] = d
        if len(point) == 1 and point[0] == 0 and ds and ds[0] is not None:
            found["second"] = torch.zeros(1)
            if ds[0].requires_grad:
                try:
                    found["second"] = torch.autograd.grad(ds[0], operands, torch.ones_like(y), allow_unused=True)[0]
                except RuntimeError:
                    del found["second"]
    return {k: float(v.detach().reshape(-1)[0]) for k, v in found.items() if v is not None}


def points():
    special = [NAN, INF, -INF, 0.0, -0.0]
    for name, f in UNARY.items():
        for x in special:
            yield name, f, (x,)
    for name, f in BINARY.items():
        for p in itertools.product(special + [2.0, -3.0], repeat=2):
            yield name, f, p
    for name, (f, seconds) in MASKED.items():
        for p in itertools.product(special, seconds):
            yield name, f, p
    for name, f in TERNARY.items():
        second = [0, 0.25, 1] if "entropy" in name else special
        for p in itertools.product(special, second, THIRD.get(name, special)):
            yield name, f, p


FIELDS = ["value", "dx", "dw", "dv", "second"]
HEAD = ["function", "x", "w", "v"] + FIELDS + ["note"]


def key(name, p):
    """Returns the first fields of a row."""
    return tuple([name] + [number(v) for v in p] + [""] * (3 - len(p)))


def row(name, f, p):
    """Returns a row by PyTorch."""
    found, alone, notes = evaluate(f, p, COUNT), evaluate(f, p, 1), []
    fields = dict(found)
    for names, field, where, what, why in OTHER:
        of = name.split()
        if of[0] not in names.split() or names == "pow" and name != "pow 0.5" or field not in found or not where(*p):
            continue
        theirs, ours = found[field], what(*p)
        if number(theirs) != number(ours):
            fields[field] = ours
            notes.append(f"{field}: PyTorch {number(theirs)}: {why}")
    for field, v in alone.items():
        if number(v) != number(found[field]) and v != found[field]:
            notes.append(f"{field}: PyTorch of one element {number(v)}")
    return list(key(name, p)) + [number(fields[k]) if k in fields else "" for k in FIELDS] + ["; ".join(notes)]


path = sys.argv[1]
with open(path, newline="") as file:
    kept = {tuple(r[:4]): r for r in list(csv.reader(file))[1:]}
rows, missing = [], []
for name, f, p in points():
    if key(name, p) in kept:
        rows.append(kept[key(name, p)])
    elif SOURCE is None:
        missing.append(key(name, p))
    else:
        rows.append(row(name, f, p))
if missing:
    lines = "\n".join(",".join(k) + "," for k in missing)
    sys.exit(f"{path} lacks rows, which need PyTorch, or to be written by hand as\n{','.join(HEAD)}\n{lines}")
with open(path, "w", newline="") as file:
    csv.writer(file, lineterminator="\n").writerows([HEAD] + rows)
print(path, len(rows), "rows; new:", ", ".join(dict.fromkeys(r[0] for r in rows if tuple(r[:4]) not in kept)) or "none")
