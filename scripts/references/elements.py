"""Functions element by element: angles, powers, whole numbers, activations, and those of several tensors."""
from cases import F, INF, NAN, case, normal, torch, uniform

SPECIAL = [INF, -INF, 0.0, -0.0, 1.0, -1.0, 0.5, -0.5, 2.0, -2.0, 3.0, -3.0, 6.0, 30.0, -30.0]

# PyTorch 1.13 has the sixth of its hardsigmoid in single precision.
# The function in PyTorch, the range of the operand, and where PyTorch is not to be had a formula of NumPy arrays:
# "Softshrink": (lambda x: F.softshrink(x, 0.5), -9, 9, lambda x: np.where(abs(x) > 0.5, x - 0.5 * np.sign(x), 0 * x)).
UNARY = {
    "Sin": (torch.sin, -9, 9), "Cos": (torch.cos, -9, 9), "Tan": (torch.tan, -1.4, 1.4), "Asin": (torch.asin, -1, 1), "Acos": (torch.acos, -1, 1),
    "Atan": (torch.atan, -9, 9), "Sinh": (torch.sinh, -3, 3), "Cosh": (torch.cosh, -3, 3), "Asinh": (torch.asinh, -9, 9), "Acosh": (torch.acosh, 1.1, 9),
    "Atanh": (torch.atanh, -0.99, 0.99),
    "Exp2": (torch.exp2, -3, 3), "Expm1": (torch.expm1, -9, 2), "Log2": (torch.log2, 0.1, 9), "Log10": (torch.log10, 0.1, 9), "Log1p": (torch.log1p, -0.9, 9),
    "Rsqrt": (torch.rsqrt, 0.1, 9), "Reciprocal": (torch.reciprocal, 0.1, 9), "Erf": (torch.erf, -3, 3), "Erfc": (torch.erfc, -3, 3),
    "ErfInv": (torch.erfinv, -0.99, 0.99),
    "Floor": (torch.floor, -9, 9), "Ceil": (torch.ceil, -9, 9), "Trunc": (torch.trunc, -9, 9), "Round": (torch.round, -9, 9), "Frac": (torch.frac, -9, 9),
    "NanToNum": (lambda x: torch.nan_to_num(x, 0.5, 7, -8), -9, 9),
    "GELU": (F.gelu, -9, 9), "GELUTanh": (lambda x: F.gelu(x, approximate="tanh"), -9, 9), "SiLU": (F.silu, -9, 9), "ELU": (lambda x: F.elu(x, 0.7), -9, 9),
    "SELU": (F.selu, -9, 9), "CELU": (lambda x: F.celu(x, 0.5), -9, 9), "Softsign": (F.softsign, -9, 9), "Mish": (F.mish, -9, 9),
    "Hardswish": (F.hardswish, -9, 9), "Hardsigmoid": (lambda x: F.hardtanh(x + 3, 0, 6) / 6, -9, 9), "Hardtanh": (lambda x: F.hardtanh(x, -1, 2), -9, 9), "ReLU6": (F.relu6, -9, 9),
    "LogSigmoid": (F.logsigmoid, -9, 9), "SoftplusBeta": (lambda x: F.softplus(x, 1.5, 3), -9, 9),
    "Hardshrink": (F.hardshrink, -9, 9), "Softshrink": (F.softshrink, -9, 9), "Lgamma": (torch.lgamma, -9, 9), "Digamma": (torch.digamma, -9, 9),
    "Logit": (torch.logit, 0.01, 0.99),
}
# Where PyTorch's gradient is NaN, or a number at a pole, or has another sign in vectors: clgrad has the limit.
OTHER = ("GELUTanh", "Softsign", "Digamma", "Logit")
for name, (f, low, high, *formula) in UNARY.items():
    formula = formula[0] if formula else None
    case(name, "odd", f, uniform(low, high, 3, 1, 7), formula=formula)
    case(name, "special", f, SPECIAL, grad=name not in OTHER and not formula, formula=formula)
    case(name, "nan", f, [NAN, 1], grad=False, formula=formula)
    case(name, "empty", f, normal(2, 0, 3), formula=formula)
    case(name, "scalar", f, uniform(max(low, 0.5), 0.9) if high < 9 else uniform(1.2, 2), formula=formula)

BINARY = {"Atan2": torch.atan2, "Hypot": torch.hypot, "PowTensor": torch.pow, "Copysign": torch.copysign, "Heaviside": torch.heaviside, "Fmod": torch.fmod,
          "Remainder": torch.remainder, "FloorDivide": torch.floor_divide, "Lerp": lambda x, y: torch.lerp(x, y, 0.7),
          "TruncDivide": lambda x, y: torch.div(x, y, rounding_mode="trunc"), "LogAddExp": torch.logaddexp, "Xlogy": torch.xlogy,
          "PReLU": lambda x, w: torch._prelu_kernel(*torch.broadcast_tensors(x, w))}
NONE = ("Heaviside", "FloorDivide", "TruncDivide")  # without a gradient
for name, f in BINARY.items():
    grad = name not in NONE
    case(name, "broadcast", f, uniform(0.3, 4, 3, 1, 5), uniform(0.3, 4, 4, 1), grad=grad)
    case(name, "signs", f, normal(3, 5), normal(5), grad=grad)
    case(name, "scalar", f, normal(2, 3), uniform(0.5, 1), grad=grad)
    case(name, "empty", f, normal(2, 0, 3), normal(3), grad=grad)
    # Gradients of infinities with a sign are NaN in PyTorch.
    case(name, "special", f, [[v] for v in SPECIAL], [SPECIAL], grad=grad and name != "Copysign")
    # NumPy's step of NaN is NaN, PyTorch's 0.
    case(name, "nan", (lambda x, y: torch.where(x.isnan(), x, torch.heaviside(x, y))) if name == "Heaviside" else f, [[NAN], [1]], [NAN, INF, 2], grad=False)

case("LerpTensor", "broadcast", torch.lerp, normal(3, 1, 5), normal(4, 1), uniform(0, 1, 4, 5))
case("LerpTensor", "special", torch.lerp, [1, INF, 0, 5], [3, 2, -0.0, -INF], [0.25, 0, 1, 0.75])
case("ClampTensor", "broadcast", lambda x, low, high: torch.clamp(*torch.broadcast_tensors(x, low, high)), normal(3, 1, 5), normal(4, 1), normal(1))
case("ClampTensor", "special", torch.clamp, [0, -1, 1, -2, 2, 0, 2, -2, NAN, 0, 0, 1, 2, 0], [-1, -1, -1, -1, -1, 1, 1, 1, -1, NAN, -1, 1, 1, 1],
     [1, 1, 1, 1, 1, -1, -1, -1, 1, 1, NAN, 1, 1, 1])
