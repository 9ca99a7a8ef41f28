"""Calls of PyTorch, written as calls of clgrad by the tables of docs/operations.md.

A function here has PyTorch's name and arguments, and says what a user of clgrad writes. Functions of tensors, or of a
tensor and a number, that docs/operations.md lists need none.
"""
import re
from pathlib import Path

import torch

DOCS = Path(__file__).parents[2] / "docs/operations.md"


class Missing(Exception):
    """What no operation of clgrad does."""


class Value:
    """A tensor of clgrad: x.Sum(0, Keepdims=…) appends a call to its program. Options go by name."""

    def __init__(self, program, ref, like=None):
        self.program, self.ref, self.like = program, ref, like

    def __getattr__(self, method):
        return lambda *args, **options: self.program.call(method, self, *args, **options)

    def at(self, i):
        """Result i of a call that has several."""
        return Value(self.program, {**self.ref, "at": i})

    @property
    def shape(self):
        return list(self.like.shape)

    @property
    def dtype(self):
        return self.like.dtype

    def axis(self, dim):
        return dim + max(len(self.shape), 1) if dim < 0 else dim

    def number(self, v):
        """A number as a tensor of rank 0: of this tensor's type, or of a higher kind."""
        typ = self.dtype
        if isinstance(v, bool):
            typ = torch.bool
        elif isinstance(v, float) and not typ.is_floating_point:
            typ = torch.float32
        elif typ == torch.bool:
            typ = torch.int64
        return self.program.load(torch.tensor(v, dtype=typ))


def is_number(v):
    return isinstance(v, (int, float))


# Functions of tensors, and of a tensor and a number, by PyTorch's name: (operands, method).
TENSORS, NUMBERS = {}, {}
for row in DOCS.read_text().splitlines():
    if m := re.match(r"\| `(\w+)\((.*?)\)` \| `torch\.(?:nn\.functional\.|Tensor\.)?(\w+)` \|", row):
        method, params, name = m.groups()
        if re.fullmatch(r"(\w+(, \w+)* \*Node)?", params):
            TENSORS[name] = method
        elif re.fullmatch(r"\w+ float64", params):
            NUMBERS[name] = method


def by_table(name, x, *args, out=None, inplace=False):
    number = args[0] if len(args) == 1 and is_number(args[0]) else None
    if number is not None and name in NUMBERS and x.dtype != torch.bool:
        if x.dtype.is_floating_point or isinstance(number, int):
            return getattr(x, NUMBERS[name])(number)
    if name not in TENSORS:
        raise Missing(f"torch.{name}")
    return getattr(x, TENSORS[name])(*[x.number(a) if is_number(a) else a for a in args])


def translate(name, program, args, kwargs):
    """The result of a call, or a list of results."""
    name = ALIASES.get(name, name)
    if f := CREATIONS.get(name):
        return f(program, *args, **kwargs)
    try:
        return FUNCTIONS[name](*args, **kwargs) if name in FUNCTIONS else by_table(name, *args, **kwargs)
    except TypeError as e:
        raise Missing(f"torch.{name}: {e}") from e


ALIASES = {
    "__and__": "bitwise_and", "__or__": "bitwise_or", "__xor__": "bitwise_xor", "__invert__": "bitwise_not",
    "__lshift__": "bitwise_left_shift", "__rshift__": "bitwise_right_shift", "__eq__": "eq", "__pow__": "pow",
    "__floordiv__": "floor_divide", "clip": "clamp", "concat": "cat", "true_divide": "div",
    "max_pool2d_with_indices": "max_pool2d",
}
FUNCTIONS, CREATIONS = {}, {}


def function(f, *names):
    for name in names or [f.__name__]:
        FUNCTIONS[name] = f
    return f


def creation(f):
    CREATIONS[f.__name__] = f
    return f


def several(dims):
    """The numbers of f(2, 3), f((2, 3)) and f([2, 3])."""
    return list(dims[0]) if len(dims) == 1 and isinstance(dims[0], (list, tuple, torch.Size)) else list(dims)


def name_of(dtype):
    return str(dtype).removeprefix("torch.")


# Tensors of a shape.


@creation
def zeros(p, *shape, dtype=torch.float32, requires_grad=False):
    return p.call("tensor.ZerosOf", name_of(dtype), *several(shape))


@creation
def ones(p, *shape, dtype=torch.float32, requires_grad=False):
    return p.call("tensor.FullOf", name_of(dtype), 1, *several(shape))


@creation
def full(p, shape, value, dtype=None):
    return p.call("tensor.FullOf", name_of(dtype or torch.tensor(value).dtype), value, *shape)


@creation
def empty(p, *shape, dtype=torch.float32):
    return p.call("tensor.EmptyOf", name_of(dtype), *several(shape))


@creation
def eye(p, n, m=None):
    return p.call("tensor.Eye", n, n if m is None else m)


@creation
def arange(p, *ends, dtype=None):
    start, end, step = ((0, *ends, 1) if len(ends) == 1 else (*ends, 1))[:3]
    floats = any(isinstance(e, float) for e in ends)
    typ = dtype or (torch.float32 if floats else torch.int64)
    return p.call("tensor.ArangeOf", name_of(typ), start, end, step)


@creation
def linspace(p, start, end, steps, dtype=torch.float32):
    return p.call("tensor.LinspaceOf", name_of(dtype), start, end, steps)


@function
def zeros_like(x, requires_grad=False):
    return x.program.call("tensor.ZerosOf", name_of(x.dtype), *x.shape)


@function
def ones_like(x, requires_grad=False):
    return full_like(x, 1)


@function
def full_like(x, value):
    return x.program.call("tensor.FullOf", name_of(x.dtype), value, *x.shape)


# Types.


@function
def type(x, dtype):
    return x.To(name_of(dtype))


for method in ["bool", "int", "long", "half", "float", "double"]:
    function(lambda x, typ=name_of(getattr(torch, method)): x.To(typ), method)

function(lambda x: x.Detach(), "detach")
function(lambda x: x, "cpu", "contiguous")
function(lambda x: x.Copy(), "clone")


# Functions, element by element.

function(lambda x, v: x.RSubScalar(v), "__rsub__")
function(lambda x, v: x.RDivScalar(v), "__rtruediv__")
function(lambda x, v: x.number(v).Remainder(x), "__rmod__")
function(lambda x, v: x.number(v).PowTensor(x), "__rpow__")
function(lambda x, negative_slope=0.01, inplace=False: x.LeakyReLU(negative_slope), "leaky_relu")
function(lambda x, alpha=1.0, inplace=False: x.ELU(alpha), "elu")
function(lambda x, alpha=1.0, inplace=False: x.CELU(alpha), "celu")
function(lambda x, approximate="none": x.GELUTanh() if approximate == "tanh" else x.GELU(), "gelu")
function(lambda x, min_val=-1, max_val=1, inplace=False: x.Hardtanh(min_val, max_val), "hardtanh")
function(lambda x, y, weight: x.Lerp(y, weight) if is_number(weight) else x.LerpTensor(y, weight), "lerp")
function(lambda x, mask, v: x.MaskedFill(mask, v), "masked_fill")


@function
def softplus(x, beta=1, threshold=20):
    return x.Softplus() if (beta, threshold) == (1, 20) else x.SoftplusBeta(beta, threshold)


@function
def div(x, y, rounding_mode=None):
    name = {None: "div", "floor": "floor_divide", "trunc": "trunc"}[rounding_mode]
    return x.TruncDivide(x.number(y) if is_number(y) else y) if name == "trunc" else by_table(name, x, y)


@function
def clamp(x, min=None, max=None):
    if max is None:
        return x.MaxScalar(float(min))
    return x.MinScalar(max) if min is None else x.Clamp(min, max)


@function
def isclose(x, y, rtol=1e-5, atol=1e-8, equal_nan=False):
    return x.IsCloseOrNaN(y, rtol, atol) if equal_nan else x.IsClose(y, rtol, atol)


@function
def where(cond, x, y):
    x, y = [cond.program.load(torch.tensor(v)) if is_number(v) else v for v in (x, y)]
    return x.Where(cond, y)


# Reductions and scans.


def axes_of(dim, keepdim=False):
    axes = [] if dim is None else [dim] if isinstance(dim, int) else list(dim)
    return axes + ["tensor.Keepdims"] * keepdim


def reduction(method):
    def reduce(x, dim=None, keepdim=False, *, axis=None, dtype=None):
        if dtype is not None:
            x = x.To(name_of(dtype))
        return getattr(x, method)(*axes_of(dim if axis is None else axis, keepdim))

    return reduce


for name, method in {"sum": "Sum", "mean": "Mean", "prod": "Prod", "any": "Any", "all": "All", "argmax": "ArgMax",
                     "argmin": "ArgMin", "amax": "Max", "amin": "Min", "logsumexp": "LogSumExp"}.items():
    function(reduction(method), name)


def extremum(method):
    def reduce(x, dim=None, keepdim=False, *, axis=None):
        dim = dim if axis is None else axis
        if dim is None:
            return getattr(x, method)()
        y = getattr(x, method + "WithIndex")(*axes_of(dim, keepdim))
        return [y.at(0), y.at(1)]

    return reduce


function(extremum("Max"), "max")
function(extremum("Min"), "min")


def spread(method):
    return lambda x, dim=None, *, correction=1, keepdim=False, axis=None: getattr(x, method)(
        correction, *axes_of(dim if axis is None else axis, keepdim))


var = function(spread("Var"), "var")
std = function(spread("Std"), "std")


@function
def std_mean(x, dim=None, *, correction=1, keepdim=False, axis=None):
    dim = dim if axis is None else axis
    return [std(x, dim, correction=correction, keepdim=keepdim), x.Mean(*axes_of(dim, keepdim))]


function(lambda x, dim: x.CumSum(dim), "cumsum")
function(lambda x, dim: x.CumProd(dim), "cumprod")
function(lambda x, dim: x.LogCumSumExp(dim), "logcumsumexp")
function(lambda x, dim: pair(x.CumMax(dim)), "cummax")
function(lambda x, dim: pair(x.CumMin(dim)), "cummin")


def pair(y):
    return [y.at(0), y.at(1)]


@function
def sort(x, dim=-1, descending=False, stable=True):
    return pair(x.Sort(dim, Descending=descending))


@function
def argsort(x, dim=-1, descending=False, stable=True):
    return x.ArgSort(dim, Descending=descending)


@function
def topk(x, k, dim=-1, largest=True, sorted=True):
    return pair(x.TopK(k, dim, Smallest=not largest))


# Axes, parts and padding.


@function
def reshape(x, *shape):
    if isinstance(shape[0], torch.dtype):
        return x.program.call("tensor.Bitcast", x, name_of(shape[0]))
    return x.Reshape(*several(shape))


FUNCTIONS["view"] = reshape


@function
def unflatten(x, dim, sizes):
    dim = x.axis(dim)
    return x.Reshape(*x.shape[:dim], *sizes, *x.shape[dim + 1:])


@function
def permute(x, *dims):
    return x.Transpose(*several(dims))


@function
def transpose(x, a, b):
    axes = list(range(len(x.shape)))
    a, b = x.axis(a), x.axis(b)
    axes[a], axes[b] = b, a
    return x.Transpose(*axes)


@function
def expand(x, *shape):
    shape = several(shape)
    first = len(shape) - len(x.shape)
    return x.Expand(*[x.shape[i - first] if n == -1 else n for i, n in enumerate(shape)])


function(lambda x, start_dim=0, end_dim=-1: x.Flatten(start_dim, end_dim), "flatten")
function(lambda x, *dims: x.Squeeze(*several(dims)), "squeeze")
function(lambda x, dim: x.Unsqueeze(dim), "unsqueeze")
function(lambda x, dim, size, step: x.Unfold(dim, size, step), "unfold")
function(lambda x, offset=0, dim1=0, dim2=1: x.Diagonal(offset, dim1, dim2), "diagonal")
function(lambda x, diagonal=0: x.Diag(diagonal), "diag")
function(lambda x, *counts: x.Tile(*several(counts)), "repeat")
function(lambda x, diagonal=0: x.Tril(diagonal), "tril")
function(lambda x, diagonal=0: x.Triu(diagonal), "triu")
function(lambda x: x.T(), "T")


@function
def flip(x, *dims):
    dims = several(dims)
    return x.Flip(*dims) if dims else x


@function
def repeat_interleave(x, count, dim=None):
    return x.Flatten(0, -1).RepeatInterleave(count, 0) if dim is None else x.RepeatInterleave(count, dim)


@function
def roll(x, shifts, dims=None):
    if dims is None:
        return roll(x.Flatten(0, -1), shifts, 0).Reshape(*x.shape)
    for shift, dim in zip(axes_of(shifts), axes_of(dims), strict=True):
        x = x.Roll(shift, dim)
    return x


@function
def pad(x, pad, mode="constant", value=None):
    widths = [[pad[i], pad[i + 1]] for i in reversed(range(0, len(pad), 2))]
    mode = {"constant": "Constant", "reflect": "Reflect", "replicate": "Replicate", "circular": "Circular"}[mode]
    return x.Pad(widths, Mode="tensor.Pad" + mode, Value=value or 0)


function(lambda xs, dim=0: xs[0].program.call("autograd.Concat", dim, *xs), "cat")
function(lambda xs, dim=0: xs[0].program.call("autograd.Stack", dim, *xs), "stack")


@function
def split(x, size, dim=0):
    n = x.shape[dim]
    y = x.Split(dim, size) if isinstance(size, int) else x.SplitWithSizes(dim, *size)
    return [y.at(i) for i in range(-(-n // size) if isinstance(size, int) else len(size))]


@function
def chunk(x, n, dim=0):
    y, size = x.Chunk(dim, n), -(-x.shape[dim] // n)
    return [y.at(i) for i in range(-(-x.shape[dim] // size))]


@function
def meshgrid(*xs, indexing="ij"):
    if indexing not in ("ij", "xy"):
        raise Missing(f'torch.meshgrid(indexing="{indexing}")')
    order = [1, 0] if indexing == "xy" and len(xs) > 1 else list(range(min(2, len(xs))))
    order += range(2, len(xs))
    y = xs[0].program.call("autograd.Meshgrid", *[xs[i] for i in order])
    return [y.at(i) for i in order]


# Indices.


def selected(e):
    return isinstance(e, (Value, list, tuple))


@function
def __getitem__(x, index):
    parts = list(index) if isinstance(index, tuple) else [index]
    values = [x.program.load(torch.tensor(e)) if isinstance(e, (list, tuple)) else e for e in parts]
    wide = [len(e.shape) if isinstance(e, Value) and e.dtype == torch.bool else e is not None and e is not ...
            for e in values]
    if ... in parts:
        i = parts.index(...)
        values[i:i + 1] = [slice(None)] * (len(x.shape) - sum(wide))
    y, at, axis, indices = x, 0, 0, []
    for e in values:
        if e is None:
            y = y.Unsqueeze(axis)
        elif isinstance(e, int):
            y, at = y.Select(axis, e), at + 1
            continue
        elif isinstance(e, slice):
            start, stop, step = e.indices(x.shape[at])
            y, at = y.Slice(axis, start, max(start, stop)), at + 1
            y = y if step == 1 else y.Step(axis, step)
        else:
            indices += [None] * (axis - len(indices)) + [e]
            at, axis = at + 1, axis + 1
            continue
        axis += 1
    return y.Index(*indices) if indices else y


function(lambda x, dim, index: x.Gather(dim, index), "gather")
function(lambda x: x.NonZero(), "nonzero")
function(lambda x, classes: x.OneHot(classes), "one_hot")
SCATTERS = {"sum": "Sum", "add": "Sum", "prod": "Prod", "multiply": "Prod", "mean": "Mean", "amax": "Max", "amin": "Min"}


@function
def scatter(x, dim, index, src=None, *, value=None, reduce=None):
    src = value if src is None else src
    if is_number(src):
        src = x.program.call("tensor.FullOf", name_of(x.dtype), src, *index.shape)
    return x.Scatter(dim, index, src) if reduce is None else scatter_reduce(x, dim, index, src, reduce)


@function
def scatter_reduce(x, dim, index, src, reduce, include_self=True):
    return x.ScatterReduce(dim, index, src, "tensor.Scatter" + SCATTERS[reduce], ExcludeSelf=not include_self)


# Products, convolution and pooling.

function(lambda equation, *xs: einsum(equation, xs[0] if isinstance(xs[0], (list, tuple)) else xs), "einsum")


def einsum(equation, operands):
    return operands[0].program.call("autograd.Einsum", equation, *operands)


def each(v):
    return None if v is None else [v] if isinstance(v, int) else list(v)


def conv(x, weight, bias=None, stride=1, padding=0, dilation=1, groups=1):
    return x.Conv(weight, bias, Stride=each(stride), Padding=each(padding), Dilation=each(dilation), Groups=groups)


def conv_transpose(x, weight, bias=None, stride=1, padding=0, output_padding=0, groups=1, dilation=1):
    return x.ConvTranspose(weight, bias, Stride=each(stride), Padding=each(padding), Dilation=each(dilation),
                           OutputPadding=each(output_padding), Groups=groups)


def window_of(x, size):
    return [size] * (len(x.shape) - 2) if isinstance(size, int) else list(size)


def max_pool(x, kernel_size, stride=None, padding=0, dilation=1, ceil_mode=False, return_indices=False):
    options = dict(Stride=each(stride), Padding=each(padding), Dilation=each(dilation), Ceil=ceil_mode)
    window = window_of(x, kernel_size)
    return pair(x.MaxPoolWithIndex(window, **options)) if return_indices else x.MaxPool(window, **options)


def avg_pool(x, kernel_size, stride=None, padding=0, ceil_mode=False, count_include_pad=True, divisor_override=None):
    return x.AvgPool(window_of(x, kernel_size), Stride=each(stride), Padding=each(padding), Ceil=ceil_mode,
                     ExcludePadding=not count_include_pad, Divisor=divisor_override or 0)


def max_unpool(x, indices, kernel_size, stride=None, padding=0, output_size=None):
    window, spatial = window_of(x, kernel_size), x.shape[2:]
    steps, padding = window_of(x, stride or kernel_size), window_of(x, padding)
    size = [(n - 1) * s - 2 * p + w for n, s, p, w in zip(spatial, steps, padding, window)]
    if output_size is not None:
        size = list(output_size)[-len(spatial):]
    return x.program.call("autograd.MaxUnpool", x, indices, size)


for n in "123":
    function(conv, f"conv{n}d")
    function(conv_transpose, f"conv_transpose{n}d")
    function(max_pool, f"max_pool{n}d")
    function(avg_pool, f"avg_pool{n}d")
    function(max_unpool, f"max_unpool{n}d")


@function
def interpolate(x, size, scale_factor=None, mode="nearest", align_corners=None, recompute_scale_factor=None,
                antialias=False):
    return x.Interpolate(list(size), Linear="linear" in mode, Cubic=mode == "bicubic", Area=mode == "area",
                         Exact=mode == "nearest-exact", AlignCorners=bool(align_corners))


# Softmax, norms, attention, losses.

function(lambda x, dim, _stacklevel=3, dtype=None: x.Softmax(dim), "softmax")
function(lambda x, dim, _stacklevel=3, dtype=None: x.LogSoftmax(dim), "log_softmax")
function(lambda x, dim, _stacklevel=3, dtype=None: x.Softmin(dim), "softmin")
function(lambda x, p=2, dim=1, eps=1e-12, out=None: x.Normalize(p, dim, eps), "normalize")
REDUCTIONS = {"mean": "autograd.MeanLoss", "sum": "autograd.SumLoss", "none": "autograd.EveryLoss"}


@function
def scaled_dot_product_attention(q, k, v, attn_mask=None, is_causal=False, scale=None, enable_gqa=False):
    if enable_gqa:
        n, heads, *rest = q.shape
        groups = q.Reshape(n, k.shape[1], heads // k.shape[1], *rest)
        return scaled_dot_product_attention(groups, k.Unsqueeze(2), v.Unsqueeze(2), attn_mask, is_causal, scale).Flatten(1, 2)
    return q.ScaledDotProductAttention(k, v, attn_mask, Causal=is_causal, Scale=scale or 0)


def by_label(method):
    def loss(x, target, weight=None, size_average=None, ignore_index=-100, reduce=None, reduction="mean",
             label_smoothing=0.0):
        of = "Of" if target.dtype.is_floating_point else ""
        return x.program.call("autograd." + method + of, x, target, Weights=weight, Ignore=ignore_index,
                              Smoothing=label_smoothing, Reduction=REDUCTIONS[reduction])

    return loss


function(by_label("CrossEntropy"), "cross_entropy")
function(by_label("NLL"), "nll_loss")


def binary(method):
    def loss(x, target, weight=None, size_average=None, reduce=None, reduction="mean", pos_weight=None):
        return x.program.call("autograd." + method, x, target, Weights=weight, Positive=pos_weight,
                              Reduction=REDUCTIONS[reduction])

    return loss


function(binary("BCE"), "binary_cross_entropy")
function(binary("BCEWithLogits"), "binary_cross_entropy_with_logits")
