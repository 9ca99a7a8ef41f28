"""Softmax, norms, attention and dropout."""
import numpy as np

from cases import F, INF, NAN, case, normal, torch

for name, f in {"Softmax": F.softmax, "LogSoftmax": F.log_softmax, "Softmin": F.softmin}.items():
    case(name, "rows", lambda x: f(x, dim=-1), normal(5, 33))
    case(name, "columns", lambda x: f(x, dim=0), normal(7, 5))
    case(name, "middle", lambda x: f(x, dim=1), normal(2, 3, 1, 5))
    case(name, "long", lambda x: f(x, dim=1), 9 * normal(2, 301))
    case(name, "scalar", lambda x: f(x, dim=0), 2.5)
    case(name, "empty", lambda x: f(x, dim=1), normal(0, 3))
    case(name, "large", lambda x: f(x, dim=1), [[1000, 0, 1000], [-1e30, -1e30, -1e30], [1e30, 0, -1e30], [0, -0.0, 700]])
    case(name, "special", lambda x: f(x, dim=1), [[-INF, 0, 1], [1, -2, -INF], [-INF, -INF, 3]] if name != "Softmin" else [[INF, 0, 1], [1, -2, INF], [INF, INF, 3]])
    case(name, "nan", lambda x: f(x, dim=1), [[NAN, 0, 1], [INF, 0, 1], [-INF, -INF, -INF], [INF, INF, -INF]], grad=False)

case("LayerNorm", "rows", lambda x, w, b: F.layer_norm(x, (33,), w, b), normal(5, 33), normal(33), normal(33))
case("LayerNorm", "axes", lambda x, w: F.layer_norm(x, (3, 7), w, None, 1e-3), 5 + normal(2, 1, 3, 7), normal(3, 7))
case("LayerNorm", "plain", lambda x: F.layer_norm(x, (5,)), normal(2, 5))
case("LayerNorm", "long", lambda x, w, b: F.layer_norm(x, (301,), w, b), 100 + normal(3, 301), normal(301), normal(301))
case("LayerNorm", "empty", lambda x, w, b: F.layer_norm(x, (5,), w, b), normal(0, 5), normal(5), normal(5))
case("LayerNorm", "special", lambda x: F.layer_norm(x, (3,), eps=1e-5), [[1, 1, 1], [0, -0.0, 0], [1e8, 0, -1e8], [3, 4, 5]])
case("LayerNorm", "nan", lambda x: F.layer_norm(x, (3,)), [[NAN, 1, 2], [INF, 1, 2], [-INF, 0, 0], [0, 1, 2]], grad=False)


def rms_norm(x, w, dims, eps):
    y = x * torch.rsqrt((x * x).mean(dims, keepdim=True) + eps)
    return y if w is None else y * w


case("RMSNorm", "rows", lambda x, w: rms_norm(x, w, (-1,), 1e-5), normal(5, 33), normal(33))
case("RMSNorm", "axes", lambda x, w: rms_norm(x, w, (-2, -1), 1e-3), normal(2, 3, 7), normal(3, 7))
case("RMSNorm", "special", lambda x: rms_norm(x, None, (-1,), 1e-5), [[0, -0.0, 0], [1, 1, 1], [1e8, 0, -1e8]])
case("RMSNorm", "nan", lambda x: rms_norm(x, None, (-1,), 1e-5), [[NAN, 1, 2], [0, 1, 2]], grad=False)

case("GroupNorm", "odd", lambda x, w, b: F.group_norm(x, 3, w, b), normal(2, 6, 5, 7), normal(6), normal(6))
case("GroupNorm", "flat", lambda x, w: F.group_norm(x, 2, w, None, 1e-3), normal(3, 4), normal(4))
case("GroupNorm", "plain", lambda x: F.group_norm(x, 1), 3 + normal(2, 3, 19))
case("GroupNorm", "special", lambda x: F.group_norm(x, 2), [[[1, 1], [1, 1], [0, 2], [1e8, -1e8]]])
case("GroupNorm", "nan", lambda x: F.group_norm(x, 2), [[[NAN, 1], [1, 1]], [[INF, 1], [0, 2]]], grad=False)

case("InstanceNorm", "odd", lambda x, w, b: F.instance_norm(x, weight=w, bias=b), normal(2, 3, 5, 3), normal(3), normal(3))
case("InstanceNorm", "volume", lambda x: F.instance_norm(x, eps=1e-3), normal(1, 2, 2, 3, 2))
case("InstanceNorm", "special", lambda x: F.instance_norm(x), [[[1, 1, 1], [0, -0.0, 0], [1e8, -1e8, 0], [3, 4, 5]]])
case("InstanceNorm", "nan", lambda x: F.instance_norm(x), [[[NAN, 1], [2, 1]], [[INF, 1], [0, 2]]], grad=False)


def batch_norm(x, w=None, b=None, m=None, v=None, train=True, momentum=0.1):
    return F.batch_norm(x, m, v, w, b, train, momentum)


def running(x, m, v):
    m, v = m.clone(), v.clone()
    y = F.batch_norm(x, m, v, None, None, True, 0.3)
    return y, m, v


case("BatchNorm", "flat", batch_norm, normal(7, 5), normal(5), normal(5))
case("BatchNorm", "line", batch_norm, 5 + normal(3, 2, 19), normal(2), normal(2))
case("BatchNorm", "picture", batch_norm, normal(3, 5, 3, 7), normal(5), normal(5))
case("BatchNorm", "volume", batch_norm, normal(2, 3, 2, 1, 3))
case("BatchNorm", "eval", lambda x, w, b, m, v: F.batch_norm(x, m.detach(), v.detach(), w, b), normal(3, 4, 5), normal(4), normal(4), normal(4), [0.5, 1, 2, 3])
case("BatchNorm", "running", running, normal(4, 3, 5), normal(3), [0.5, 1, 2], grad=False)
case("BatchNorm", "special", batch_norm, [[1, 0, 1e8, 3], [1, -0.0, -1e8, 4]])
case("BatchNorm", "nan", batch_norm, [[NAN, INF, 0], [1, 2, 3], [4, 5, 6]], grad=False)

for name, p, train in (("eval", 0.5, False), ("none", 0.0, True), ("all", 1.0, True)):
    case("Dropout", name, lambda x: F.dropout(x, p, train), [[1, -2, 0], [-0.0, INF, 3], [1e30, -1e30, 5]] if p < 1 else normal(2, 7))


def attention(q, k, v, mask=None, causal=False, scale=None):
    scale = q.shape[-1] ** -0.5 if scale is None else scale
    s = (q * scale) @ k.transpose(-2, -1)
    if mask is not None:
        s = s.masked_fill(~mask, -INF) if mask.dtype == torch.bool else s + mask
    if causal:
        s = s.masked_fill(~torch.ones(s.shape[-2:], dtype=torch.bool).tril(), -INF)
    return torch.softmax(s, -1) @ v


ATTENTION = "ScaledDotProductAttention"
case(ATTENTION, "odd", attention, normal(2, 3, 7, 5), normal(2, 3, 11, 5), normal(2, 3, 11, 9))
case(ATTENTION, "causal", lambda q, k, v: attention(q, k, v, causal=True), normal(2, 19, 4), normal(2, 19, 4), normal(2, 19, 4))
case(ATTENTION, "long", lambda q, k, v: attention(q, k, v, causal=True), 3 * normal(70, 8), 3 * normal(133, 8), normal(133, 8))
case(ATTENTION, "shared", lambda q, k, v: attention(q, k, v, scale=0.3), normal(2, 3, 4, 2), normal(3, 5, 2), normal(2, 1, 5, 3))
case(ATTENTION, "mask", attention, normal(2, 4, 3), normal(2, 5, 3), normal(2, 5, 3), np.array([[1, 0, 1, 1, 0], [0, 0, 0, 1, 0], [1, 1, 1, 1, 1], [0, 1, 0, 0, 1]], bool))
case(ATTENTION, "added", attention, normal(2, 4, 3), normal(2, 5, 3), normal(2, 5, 3), normal(2, 1, 5))
case(ATTENTION, "special", attention, [[1e3, 0], [0, -1e3], [1, 1]], [[1e3, 1], [0, -1e3], [-0.0, 2]], [[1, 2], [3, 4], [1e30, 5]], [[0, -INF, 1], [-INF, 0, -INF], [0, 0, -1e30]])
case(ATTENTION, "nan", attention, [[NAN, 0], [0, 1]], normal(3, 2), normal(3, 2), grad=False)

case("GLU", "odd", lambda x: F.glu(x, 1), normal(2, 6, 3))
case("GLU", "last", F.glu, normal(3, 4))
case("GLU", "special", F.glu, [[1.0, NAN, INF, -INF, 0, 2], [INF, 1, 2, 3, -INF, NAN]], grad=False)
case("Normalize", "odd", lambda x: F.normalize(x, dim=1), normal(2, 5, 3))
case("Normalize", "power", lambda x: F.normalize(x, 3.0, -1), normal(3, 5))
case("Normalize", "small", lambda x: F.normalize(x, 1.0, 0, eps=4.0), normal(3, 5))
case("Normalize", "special", lambda x: F.normalize(x, dim=1), [[0.0, 0, -0.0], [NAN, 1, 2], [INF, 1, 2]], grad=False)
