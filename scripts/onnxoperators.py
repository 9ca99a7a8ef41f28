#!/usr/bin/env python3
"""Writes what ONNX Runtime computes for operators, or where it has none the reference implementation of ONNX, one node
at a time, for the tests of package onnx.

    python3 -m venv .build/onnx && .build/onnx/bin/pip install onnx onnxruntime numpy
    .build/onnx/bin/python scripts/onnxoperators.py > testdata/onnx/operators.json
"""
import json
import sys

import numpy as np
import ml_dtypes
import onnxruntime
from onnx import TensorProto, helper
from onnx.reference import ReferenceEvaluator

rng = np.random.default_rng(1)
microsoft = "com.microsoft"
cases = []


def f(*shape):
    return np.round(rng.standard_normal(shape), 2).astype(np.float32)


def ints(low, high, *shape, of=np.int64):
    return rng.integers(low, high, shape).astype(of)


def scalar(x, of=np.float32):
    return np.array(x, of)


def tensor(a):
    if a is None:
        return None
    data = a.astype(np.float64).flatten().tolist()
    if np.dtype(a.dtype).kind in "iub":
        data = [int(v) for v in data]
    elif a.dtype == np.float32:
        data = [float(f"{v:.7g}") for v in data]
    data = [v if np.isfinite(v) else str(v) for v in data]
    return {"type": str(a.dtype), "shape": list(a.shape), "data": data}


def case(op, inputs, attrs=None, outputs=1, domain=microsoft, opset=1, tolerance=1e-5, wanted=None, runtime=True):
    """Runs a node. wanted are the outputs that are named, all if it is left out. Without runtime the reference does."""
    wanted = range(outputs) if wanted is None else wanted
    names = ["" if a is None else f"in{i}" for i, a in enumerate(inputs)]
    outs = [f"out{i}" if i in wanted else "" for i in range(outputs)]
    node = helper.make_node(op, names, outs, domain=domain, **(attrs or {}))
    info = [helper.make_tensor_value_info(n, helper.np_dtype_to_tensor_dtype(a.dtype), a.shape)
            for n, a in zip(names, inputs) if n]
    graph = helper.make_graph([node], op, info, [helper.make_tensor_value_info(o, TensorProto.FLOAT, None) if o == "out3"
                                            else helper.make_empty_tensor_value_info(o) for o in outs if o])
    model = helper.make_model(graph, opset_imports=[
        helper.make_opsetid("", opset if domain == "" else 17), helper.make_opsetid(microsoft, 1)])
    model.ir_version = 10
    feeds = {n: a for n, a in zip(names, inputs) if n}
    if runtime:
        options = onnxruntime.SessionOptions()
        options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
        options.log_severity_level = 4
        session = onnxruntime.InferenceSession(model.SerializeToString(), options, ["CPUExecutionProvider"])
        got = session.run(None, feeds)
    else:
        got = ReferenceEvaluator(model).run(None, feeds)
    results = dict(zip([o for o in outs if o], got))
    cases.append({"op": op, "domain": domain, "opset": opset, "attrs": attrs or {}, "tolerance": tolerance,
                  "inputs": [tensor(a) for a in inputs], "outputs": [tensor(results.get(o)) for o in outs]})


# Functions, products, norms.
case("Gelu", [f(5)])
case("BiasGelu", [f(2, 3), f(3)])
case("FastGelu", [f(2, 3)])
case("FastGelu", [f(2, 3), f(3)])
case("QuickGelu", [f(5)])
case("QuickGelu", [f(5)], {"alpha": 1.0})
case("FusedMatMul", [f(2, 3), f(3, 4)], {"alpha": 0.5})
case("FusedMatMul", [f(2, 4, 3), f(2, 5, 4)], {"transA": 1, "transB": 1})
case("FusedMatMul", [f(3, 2, 4), f(2, 4, 5)], {"transBatchA": 1})
case("FusedMatMul", [f(4, 2, 3), f(4, 2, 5)], {"transBatchA": 1, "transBatchB": 1, "transA": 1})
case("FusedGemm", [f(2, 3), f(3, 4), f(4)], {"activation": "Relu", "alpha": 2.0, "beta": 0.5})
case("FusedGemm", [f(3, 2), f(4, 3)], {"activation": "LeakyRelu", "activation_alpha": 0.3, "transA": 1, "transB": 1})
case("FusedGemm", [f(2, 3), f(3, 4), f(2, 1)],
     {"activation": "HardSigmoid", "activation_alpha": 0.3, "activation_beta": 0.4})
case("SimplifiedLayerNormalization", [f(2, 3, 4), f(4)], {"epsilon": 1e-3}, domain="")
case("SimplifiedLayerNormalization", [f(2, 3, 4), f(3, 4)], {"axis": 1}, domain="", outputs=2)
case("SkipLayerNormalization", [f(2, 3, 4), f(2, 3, 4), f(4), f(4), f(4)], {"epsilon": 1e-3}, 4, wanted=[0, 3])
case("SkipLayerNormalization", [f(2, 3, 4), f(1, 3, 4), f(4)])
case("SkipLayerNormalization", [f(2, 3, 4), f(3, 4), f(4), None, f(4)])
case("SkipSimplifiedLayerNormalization", [f(2, 3, 4), f(2, 3, 4), f(4), f(4)], {"epsilon": 1e-3}, 4, wanted=[0, 3])
case("SkipSimplifiedLayerNormalization", [f(3, 4), f(3, 4), f(4)])
words = [ints(0, 6, 2, 3, of=np.int32), ints(0, 2, 2, 3, of=np.int32), f(6, 4), f(5, 4), f(2, 4), f(4), f(4)]
case("EmbedLayerNormalization", words, {"epsilon": 1e-3}, 2)
case("EmbedLayerNormalization", words + [np.array([[1, 1, 0], [1, 1, 1]], np.int32)], {}, 3)
case("EmbedLayerNormalization", [words[0], None, words[2], words[3], None, words[5], words[6], None,
                                 np.array([[4, 0, 2]], np.int32)], {}, 2)

case("FusedConv", [f(1, 2, 5, 4), f(3, 2, 3, 3), f(3)], {"activation": "Relu", "pads": [1, 0, 1, 2]})
case("FusedConv", [f(1, 2, 5), f(2, 1, 3), f(2)],
     {"activation": "Clip", "activation_params": [-0.5, 1.5], "group": 2, "strides": [2]})
case("FusedConv", [f(1, 2, 4, 4), f(3, 2, 3, 3), f(3), f(1, 3, 2, 2)],
     {"activation": "LeakyRelu", "activation_params": [0.25]})

# Attention.
case("RotaryEmbedding", [f(2, 3, 8), np.array([[0, 1, 2], [4, 2, 1]]), f(5, 2), f(5, 2)])
case("RotaryEmbedding", [f(2, 3, 8), np.array([2]), f(5, 2), f(5, 2)], {"interleaved": 1})
case("RotaryEmbedding", [f(2, 2, 3, 6), np.array([[0, 1, 2], [4, 2, 1]]), f(5, 2), f(5, 2)],
     {"rotary_embedding_dim": 4, "num_heads": 2})

qkv = [f(2, 3, 8), f(2, 4, 8), f(2, 4, 8)]
heads = {"num_heads": 2}
case("MultiHeadAttention", qkv, heads)
case("MultiHeadAttention", qkv + [f(24)], {"num_heads": 2, "scale": 0.7})
case("MultiHeadAttention", [f(2, 3, 8), f(2, 3, 8), f(2, 3, 8)], {"num_heads": 2, "unidirectional": 1})
case("MultiHeadAttention", [f(2, 3, 8), f(2, 2, 4, 4), f(2, 2, 4, 4)], heads)
case("MultiHeadAttention", [f(2, 3, 8), f(2, 2, 4, 4), f(2, 2, 4, 4), f(24)], heads)
case("MultiHeadAttention", [f(2, 3, 8), f(2, 4, 8), f(2, 4, 12)], heads)
case("MultiHeadAttention", qkv + [None, np.array([[1, 1, 1, 0], [0, 1, 1, 1]], np.int32)], heads)
case("MultiHeadAttention", qkv + [None, np.array([3, 4], np.int32)], heads)
case("MultiHeadAttention", qkv + [None, ints(0, 2, 2, 3, 4, of=np.int32)], heads)
case("MultiHeadAttention", qkv + [None, None, f(1, 2, 3, 4)], heads)
case("MultiHeadAttention", [f(2, 3, 8), f(2, 3, 8), f(2, 3, 8), None, None, f(2, 1, 3, 5), f(2, 2, 2, 4), f(2, 2, 2, 4)],
     heads, 3)
case("MultiHeadAttention", [f(2, 3, 8), f(2, 3, 8), f(2, 3, 8), None, None, None, f(2, 2, 2, 4), f(2, 2, 2, 4)],
     {"num_heads": 2, "unidirectional": 1}, 3)
case("MultiHeadAttention", qkv, heads, 4)

merged = [f(2, 3, 4), f(4, 24), f(24)]
case("Attention", merged, heads)
case("Attention", merged, {"num_heads": 2, "unidirectional": 1, "scale": 0.6})
case("Attention", [f(2, 3, 4), f(4, 28), f(28)], {"num_heads": 2, "qkv_hidden_sizes": [8, 8, 12]})
case("Attention", merged + [np.array([2, 3], np.int32)], heads)
case("Attention", merged + [np.array([3, 2, 1, 0], np.int32)], heads)
case("Attention", merged + [np.array([[1, 1, 0], [1, 0, 1]], np.int32)], heads)
case("Attention", merged + [ints(0, 2, 2, 3, 3, of=np.int32)], {"num_heads": 2, "mask_filter_value": -5.0})
case("Attention", merged + [None, f(2, 2, 2, 2, 4)], {"num_heads": 2, "unidirectional": 1}, 2)
case("Attention", merged + [np.array([[1, 1, 0, 1, 1], [1, 0, 1, 1, 1]], np.int32), f(2, 2, 2, 2, 4)],
     heads, 2)
case("Attention", merged + [None, None, f(1, 2, 3, 3)], heads)


def group(tokens, past, capacity, groups=2, batch=1, d=8, **more):
    """Inputs of GroupQueryAttention of 4 heads of d features: past tokens of each element of the batch."""
    totals = np.array([p + tokens for p in past], np.int32)
    width = groups * d
    inputs = [f(batch, tokens, 4 * d), f(batch, tokens, width), f(batch, tokens, width), f(batch, groups, capacity, d),
              f(batch, groups, capacity, d), totals - 1, scalar(totals.max(), np.int32)]
    for at in ("cos", "sin", "ids", "bias", "sink"):
        inputs.append(more.get(at))
    while inputs[-1] is None:
        inputs.pop()
    return inputs


gqa = {"num_heads": 4, "kv_num_heads": 2}
prompt = group(3, [0], 0)
prompt[3] = prompt[4] = None
case("GroupQueryAttention", prompt, gqa, 3)
case("GroupQueryAttention", [f(1, 3, 64), None, None] + prompt[3:], gqa, 3)
case("GroupQueryAttention", group(1, [5], 5), gqa, 3)
case("GroupQueryAttention", group(1, [3], 8), {**gqa, "scale": 0.8}, 3)
case("GroupQueryAttention", group(1, [3, 5], 8, batch=2), gqa, 3)
case("GroupQueryAttention", group(2, [3], 5), gqa, 3)
case("GroupQueryAttention", group(3, [2], 8, groups=4), {**gqa, "kv_num_heads": 4}, 3)
case("GroupQueryAttention", group(3, [2], 8, groups=1), {**gqa, "kv_num_heads": 1, "softcap": 2.0}, 3)
case("GroupQueryAttention", group(3, [2], 8), {**gqa, "local_window_size": 2}, 3)
case("GroupQueryAttention", group(1, [4, 6], 8, batch=2), {**gqa, "local_window_size": 3}, 3)
rope = {"cos": f(8, 8), "sin": f(8, 8), "d": 16}
case("GroupQueryAttention", group(1, [4, 6], 8, batch=2, **rope), {**gqa, "do_rotary": 1}, 3)
case("GroupQueryAttention", group(3, [2], 8, **rope), {**gqa, "do_rotary": 1, "rotary_interleaved": 1}, 3)
case("GroupQueryAttention", group(2, [3], 8, ids=np.array([[3, 4]]), **rope), {**gqa, "do_rotary": 1}, 3)
case("GroupQueryAttention", group(2, [3], 8, bias=f(1, 4, 2, 5)), gqa, 3)
case("GroupQueryAttention", group(2, [3], 8, sink=f(4)), gqa, 3)
case("GroupQueryAttention", group(2, [3], 8), {**gqa, "smooth_softmax": 1}, 3)
case("GroupQueryAttention", group(2, [3], 8), {**gqa, "qk_output": 1}, 4)
case("GroupQueryAttention", group(2, [3], 8), {**gqa, "qk_output": 2}, 4)

# Quantized numbers.
u8 = lambda *shape: ints(0, 256, *shape, of=np.uint8)
i8 = lambda *shape: ints(-128, 128, *shape, of=np.int8)
case("QuantizeLinear", [f(2, 3) * 40, scalar(0.5), scalar(7, np.uint8)])
case("QuantizeLinear", [f(2, 3) * 40, np.array([0.5, 0.1, 2], np.float32), np.array([7, -3, 0], np.int8)], {"axis": 1})
case("QuantizeLinear", [f(2, 3) * 40, scalar(0.01), scalar(700, np.uint16)])
case("DequantizeLinear", [i8(2, 3), np.array([0.5, 2], np.float32), np.array([7, -3], np.int8)], {"axis": 0})
case("DequantizeLinear", [ints(-9999, 9999, 4, of=np.int32), scalar(0.25)])
for op in ("QLinearAdd", "QLinearMul"):
    case(op, [u8(2, 3), scalar(0.1), scalar(120, np.uint8), u8(3), scalar(0.2), scalar(99, np.uint8), scalar(0.3),
              scalar(100, np.uint8)])
    case(op, [i8(2, 3), scalar(0.1), scalar(-12, np.int8), i8(2, 1), scalar(0.2), scalar(4, np.int8), scalar(0.9),
              scalar(-5, np.int8)])
case("QLinearSigmoid", [u8(7), scalar(0.05), scalar(120, np.uint8), scalar(1 / 256), scalar(0, np.uint8)])
case("QLinearLeakyRelu", [i8(7), scalar(0.05), scalar(3, np.int8), scalar(0.04), scalar(-3, np.int8)], {"alpha": 0.2})
case("QLinearGlobalAveragePool", [u8(2, 3, 4, 5), scalar(0.0937), scalar(9, np.uint8), scalar(0.0711), scalar(3, np.uint8)])
case("QLinearGlobalAveragePool", [i8(2, 4, 5, 3), scalar(0.0937), scalar(9, np.int8), scalar(0.0711), scalar(3, np.int8)],
     {"channels_last": 1})
case("QLinearAveragePool", [u8(1, 2, 5, 5), scalar(0.0937), scalar(9, np.uint8), scalar(0.0711), scalar(3, np.uint8)],
     {"kernel_shape": [3, 2], "strides": [2, 1], "pads": [1, 1, 0, 0]})
case("QLinearAveragePool", [i8(1, 5, 4, 3), scalar(0.0937), scalar(9, np.int8), scalar(0.0711), scalar(3, np.int8)],
     {"kernel_shape": [2, 2], "pads": [1, 0, 1, 0], "count_include_pad": 1, "channels_last": 1})
case("QLinearConcat", [scalar(0.1), scalar(12, np.uint8), u8(2, 3), scalar(0.2), scalar(3, np.uint8), u8(2, 1),
                       scalar(0.05), scalar(100, np.uint8)], {"axis": 1})
case("DynamicQuantizeMatMul", [f(2, 3, 4), i8(4, 5), scalar(0.1), scalar(3, np.int8), f(5)], tolerance=1e-4)
case("DynamicQuantizeMatMul", [f(3, 4), u8(4, 5), np.abs(f(5)), u8(5)], tolerance=1e-4)
case("MatMulIntegerToFloat", [u8(3, 4), i8(4, 5), scalar(0.1), scalar(0.2), scalar(9, np.uint8), scalar(-3, np.int8), f(5)])
case("MatMulIntegerToFloat", [u8(3, 4), u8(4, 5), scalar(0.1), np.abs(f(5)), None, u8(5)])
case("MatMulInteger", [u8(2, 3, 4), i8(4, 5), scalar(9, np.uint8), i8(5)], domain="", opset=10)
case("MatMulInteger", [u8(4), u8(4, 5)], domain="", opset=10)
case("QLinearMatMul", [u8(3, 4), scalar(0.1), scalar(9, np.uint8), i8(4, 5), np.abs(f(5)) + 0.1, i8(5), scalar(3.0),
                       scalar(100, np.uint8)], domain="", opset=21)
case("DynamicQuantizeLinear", [f(2, 3)], outputs=3, domain="", opset=11)
case("DynamicQuantizeLinear", [np.abs(f(4)) + 1], outputs=3, domain="", opset=11)
case("DynamicQuantizeLinear", [np.zeros(3, np.float32)], outputs=3, domain="", opset=11)
for bits, block in ((4, 16), (8, 16), (2, 16), (4, 32)):
    n, k = 3, 40
    blocks = -(-k // block)
    zeros = u8(n, -(-blocks * bits // 8))
    weights = [f(2, k), u8(n, blocks, block * bits // 8), np.abs(f(n, blocks)) / 4 + 0.1]
    attrs = {"K": k, "N": n, "bits": bits, "block_size": block}
    case("MatMulNBits", weights, attrs, tolerance=1e-4)
    case("MatMulNBits", weights + [zeros], attrs, tolerance=1e-4)
    if bits != 8:
        case("MatMulNBits", weights + [f(n, blocks), None, f(n)], attrs, tolerance=1e-4)



def onnx(op, opset, inputs, attrs=None, outputs=1, tolerance=1e-5, wanted=None, runtime=True):
    case(op, inputs, attrs, outputs, "", opset, tolerance, wanted, runtime)


# Attention of ai.onnx: [b, heads, l, d] and [b, l, heads·d], caches, masks, what it gives.
inf = np.float32(np.inf)
q, k, v = f(2, 4, 3, 8), f(2, 2, 5, 8), f(2, 2, 5, 6)
onnx("Attention", 23, [q, f(2, 4, 5, 8), f(2, 4, 5, 6)])
onnx("Attention", 23, [q, k, v], {"scale": 0.4, "softcap": 1.5})
onnx("Attention", 23, [q, k, v], {"is_causal": 1})
onnx("Attention", 23, [q[:, :, :1], k, v, None, f(2, 2, 3, 8), f(2, 2, 3, 6)], {"is_causal": 1}, 3, runtime=False)
onnx("Attention", 23, [q[:, :, :1], k[:, :, :1], v[:, :, :1], None, f(2, 2, 3, 8), f(2, 2, 3, 6)], {"is_causal": 1}, 3)
onnx("Attention", 23, [q, k[:, :, :3], v[:, :, :3], None, f(2, 2, 3, 8), f(2, 2, 3, 6)], {"is_causal": 1}, 3)
onnx("Attention", 23, [f(2, 3, 32), f(2, 5, 16), f(2, 5, 12), f(3, 5)], {"q_num_heads": 4, "kv_num_heads": 2})
mask = np.array([[1, 0, 1, 1, 0], [0, 0, 0, 0, 0], [1, 1, 1, 1, 1]], bool)
onnx("Attention", 23, [q, k, v, mask])
onnx("Attention", 23, [q, k, v, mask], {"softcap": 2.0})
onnx("Attention", 23, [q, k, v, mask], {"is_causal": 1}, runtime=False)
onnx("Attention", 23, [q, k, v, np.where(mask, f(3, 5), -inf)[None]])
onnx("Attention", 23, [q, k, v, f(2, 1, 3, 5)], {"is_causal": 1})
onnx("Attention", 23, [q, k, v, f(2, 4, 3, 5)])
for mode in range(4):
    onnx("Attention", 23, [q, k, v, np.where(mask, f(3, 5), -inf)],
         {"qk_matmul_output_mode": mode, "softcap": 2.0 if mode else 0.0}, 4, wanted=[0, 3], runtime=False)
half = [x.astype(np.float16) for x in (q, k, v)]
onnx("Attention", 23, half, {"softmax_precision": 1}, tolerance=4e-3)
onnx("Attention", 23, half, {"softcap": 2.0}, tolerance=4e-3)
onnx("Attention", 23, [x.astype(np.float64) for x in (q, k, v)], tolerance=1e-12, runtime=False)
onnx("Attention", 23, [x.astype(ml_dtypes.bfloat16) for x in (q, k, v)], tolerance=3e-2, runtime=False)
lengths = np.array([4, 2])
onnx("Attention", 24, [q, k, v, None, None, None, lengths], runtime=False)
onnx("Attention", 24, [q, k, v, None, None, None, lengths], {"is_causal": 1}, runtime=False)
onnx("Attention", 24, [q[:, :, :1], k, v, f(1, 4), None, None, lengths], {"is_causal": 1}, runtime=False)
onnx("Attention", 24, [q, k, v, np.ones((3, 4), bool)], runtime=False)
onnx("Attention", 25, [q, k, v], {"left_window_size": 1}, runtime=False)
onnx("Attention", 25, [q, k, v], {"left_window_size": 0, "right_window_size": 2}, runtime=False)
onnx("Attention", 25, [q, k[:, :, :3], v[:, :, :3], None, f(2, 2, 3, 8), f(2, 2, 3, 6)],
     {"left_window_size": 2, "is_causal": 1}, runtime=False)
onnx("Attention", 25, [q, k, v, None, None, None, lengths], {"left_window_size": 1, "is_causal": 1}, runtime=False)
cos, sin = f(6, 4), f(6, 4)
ids = np.array([[0, 1, 5], [4, 2, 1]])
onnx("RotaryEmbedding", 23, [q[:, :, :3], cos, sin, ids])
onnx("RotaryEmbedding", 23, [f(2, 3, 32), cos, sin, ids], {"num_heads": 4, "interleaved": 1})
onnx("RotaryEmbedding", 23, [f(2, 3, 24), f(2, 3, 2), f(2, 3, 2)], {"num_heads": 4, "rotary_embedding_dim": 4})
onnx("RotaryEmbedding", 23, [f(2, 4, 3, 6), f(2, 3, 2), f(2, 3, 2)], {"rotary_embedding_dim": 4, "interleaved": 1})
linear = {"q_num_heads": 4, "kv_num_heads": 2}
tokens = [f(2, 3, 16), f(2, 3, 8), f(2, 3, 6)]
state, decay, beta = f(2, 2, 4, 3), -np.abs(f(2, 3, 2)), np.abs(f(2, 3, 2))
onnx("LinearAttention", 27, tokens, {**linear, "update_rule": "linear"}, 2, runtime=False)
onnx("LinearAttention", 27, tokens + [state, -np.abs(f(2, 3, 8))], {**linear, "update_rule": "gated", "scale": 0.3}, 2,
     runtime=False)
onnx("LinearAttention", 27, tokens + [None, None, beta[:, :, :1]], {**linear, "update_rule": "delta"}, 2, runtime=False)
onnx("LinearAttention", 27, tokens + [state, decay, beta], linear, 2, runtime=False)
onnx("CausalConvWithState", 27, [f(2, 3, 4), f(3, 1, 3)], {}, 2, runtime=False)
onnx("CausalConvWithState", 27, [f(2, 3, 1), f(3, 1, 3), f(3), f(2, 3, 2)], {"activation": "silu"}, 2, runtime=False)
onnx("CausalConvWithState", 27, [f(1, 2, 3), f(2, 1, 1), f(2)], {"activation": "swish"}, 2, runtime=False)

# Signals.
for op in ("HannWindow", "HammingWindow", "BlackmanWindow"):
    onnx(op, 17, [scalar(8, np.int64)])
    onnx(op, 17, [scalar(7, np.int32)], {"periodic": 0, "output_datatype": TensorProto.DOUBLE}, tolerance=1e-6)
onnx("MelWeightMatrix", 17, [scalar(4, np.int64), scalar(16, np.int64), scalar(8192, np.int64), scalar(0), scalar(4096)])
onnx("MelWeightMatrix", 17, [scalar(3, np.int64), scalar(30, np.int64), scalar(16000, np.int64), scalar(300), scalar(7000)],
     {"output_datatype": TensorProto.DOUBLE})
onnx("DFT", 17, [f(2, 5, 1)])
onnx("DFT", 17, [f(2, 6, 3, 2)], {"axis": 1, "inverse": 1})
onnx("DFT", 17, [f(2, 3, 7, 1), scalar(5, np.int64)], {"axis": -2, "onesided": 1})
onnx("DFT", 20, [f(2, 5, 2), scalar(8, np.int64)])
onnx("DFT", 20, [f(6, 3, 1), None, scalar(0, np.int64)], {"onesided": 1})
onnx("DFT", 20, [f(2, 4, 2), scalar(7, np.int32)], {"onesided": 1, "inverse": 1}, runtime=False)
onnx("DFT", 20, [f(2, 4, 2)], {"onesided": 1, "inverse": 1}, runtime=False)
onnx("DFT", 20, [f(1, 6, 2).astype(np.float64)], {"inverse": 1}, tolerance=1e-6)
onnx("STFT", 17, [f(2, 10, 1), scalar(3, np.int64), None, scalar(4, np.int64)])
onnx("STFT", 17, [f(1, 9, 1), scalar(2, np.int64), f(5)], {"onesided": 0})
onnx("STFT", 17, [f(1, 9, 2), scalar(2, np.int64), f(4), scalar(4, np.int64)], {"onesided": 0})

# Quantization of ai.onnx.
x = np.array([[-300, -1.5, -0.5, 0.5], [1.5, 2.5, 3, 900]], np.float32)
per = np.array([0.5, 2], np.float32)
onnx("QuantizeLinear", 10, [x, scalar(1.0)])
onnx("QuantizeLinear", 10, [x, scalar(2.0), scalar(-3, np.int8)])
onnx("QuantizeLinear", 10, [np.array([7, -300, 1000], np.int32), scalar(2.0), scalar(5, np.uint8)], runtime=False)
onnx("QuantizeLinear", 13, [x, per, np.array([1, -2], np.int8)], {"axis": 0})
onnx("QuantizeLinear", 13, [x, np.array([1, 2, 3, 4], np.float32), np.array([1, 2, 3, 4], np.uint8)], {"axis": -1})
onnx("QuantizeLinear", 19, [x, scalar(2.0), scalar(0, ml_dtypes.float8_e4m3fn)], runtime=False)
onnx("QuantizeLinear", 19, [x * 99, scalar(0.5), scalar(0, ml_dtypes.float8_e5m2)], {"saturate": 0}, runtime=False)
onnx("QuantizeLinear", 19, [x.astype(np.float16), scalar(0.3, np.float16), scalar(3, np.uint8)])
onnx("QuantizeLinear", 21, [x, per[:, None] * np.ones((1, 2), np.float32), ints(-3, 4, 2, 2, of=np.int8)],
     {"axis": 1, "block_size": 2})
onnx("QuantizeLinear", 21, [x, per[:, None] * np.ones((1, 2), np.float32)],
     {"axis": 1, "block_size": 3, "output_dtype": TensorProto.UINT16})
onnx("QuantizeLinear", 21, [x, scalar(1.0)], {"output_dtype": TensorProto.INT4}, runtime=False)
onnx("QuantizeLinear", 23, [x.astype(np.float16), scalar(0.3)], {"precision": TensorProto.FLOAT}, runtime=False)
onnx("QuantizeLinear", 25, [x, scalar(1.0)], {"output_dtype": TensorProto.UINT2}, runtime=False)
onnx("DequantizeLinear", 10, [u8(2, 3), scalar(0.5), scalar(100, np.uint8)])
onnx("DequantizeLinear", 13, [i8(2, 3), per, np.array([1, -2], np.int8)], {"axis": 0})
onnx("DequantizeLinear", 19, [i8(4), scalar(0.3, np.float16)])
onnx("DequantizeLinear", 19, [f(4).astype(ml_dtypes.float8_e4m3fn), scalar(0.3)], runtime=False)
onnx("DequantizeLinear", 21, [ints(-9999, 9999, 3, 2, of=np.int16), np.abs(f(2, 2)), ints(-9, 9, 2, 2, of=np.int16)],
     {"axis": 0, "block_size": 2})
onnx("DequantizeLinear", 21, [ints(-8, 8, 5).astype(ml_dtypes.int4), scalar(0.5), scalar(3, ml_dtypes.int4)], runtime=False)
onnx("DequantizeLinear", 23, [i8(4), scalar(0.3)], {"output_dtype": TensorProto.FLOAT16}, runtime=False)
onnx("QLinearMatMul", 10, [u8(2, 3, 4), scalar(0.1), scalar(9, np.uint8), u8(2, 4, 5), scalar(0.2), scalar(77, np.uint8),
                           scalar(3.0), scalar(100, np.uint8)])
onnx("MatMulInteger", 10, [u8(3, 4), u8(4), np.array(9, np.uint8)])
onnx("ConvInteger", 10, [u8(1, 2, 5, 4), u8(3, 2, 3, 2), np.array(9, np.uint8)], {"pads": [1, 0, 0, 1], "strides": [2, 1]})
onnx("ConvInteger", 10, [u8(2, 4, 6), u8(4, 2, 3), scalar(200, np.uint8), scalar(7, np.uint8)],
     {"group": 2, "auto_pad": "SAME_LOWER", "strides": [2]})
onnx("QLinearConv", 10, [u8(1, 2, 5, 4), scalar(0.1), scalar(9, np.uint8), i8(3, 2, 3, 3), np.abs(f(3)) + 0.1,
                         np.zeros(3, np.int8), scalar(4.0), scalar(120, np.uint8), ints(-500, 500, 3, of=np.int32)],
     {"pads": [1, 1, 1, 1]})
onnx("QLinearConv", 10, [i8(1, 4, 7), scalar(0.1), scalar(9, np.int8), i8(4, 1, 3), scalar(0.2), scalar(0, np.int8),
                         scalar(2.0), scalar(-20, np.int8)], {"group": 4, "strides": [2]})

json.dump(cases, sys.stdout, separators=(",", ":"))
print()
