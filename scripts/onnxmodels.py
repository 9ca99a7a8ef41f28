#!/usr/bin/env python3
"""Writes the small models of the tests of package onnx.

    python3 -m venv .build/onnx && .build/onnx/bin/pip install onnx numpy
    .build/onnx/bin/python scripts/onnxmodels.py testdata/onnx
"""
import sys

import numpy as np
from onnx import TensorProto, checker, helper, numpy_helper, save


def model(name, nodes, inputs, outputs, initializers=(), opset=17, **kwargs):
    graph = helper.make_graph(nodes, name, inputs, outputs, [numpy_helper.from_array(a, n) for n, a in initializers])
    m = helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], producer_name="clgrad", **kwargs)
    m.ir_version = 8
    checker.check_model(m)
    save(m, f"{sys.argv[1]}/{name}.onnx")


def info(name, *shape, of=TensorProto.FLOAT):
    return helper.make_tensor_value_info(name, of, list(shape))


# y = relu(x·w + b)
model(
    "perceptron",
    [helper.make_node("MatMul", ["x", "w"], ["xw"]), helper.make_node("Add", ["xw", "b"], ["z"], name="bias"),
     helper.make_node("Relu", ["z"], ["y"])],
    [info("x", "batch", 3)], [info("y", "batch", 2)],
    [("w", np.array([[1, -1], [2, 0], [0, 3]], np.float32)), ("b", np.array([0.5, -0.5], np.float32))],
)

x = np.array([[1, 2, 3], [0, 0, 0]], np.float32)
y = np.array([[5.5, 7.5], [0.5, 0]], np.float32)
np.save(sys.argv[1] + "/x.npy", x)
np.savez(sys.argv[1] + "/pairs.npz", **{"in:x": x, "out:y": y})
np.savez(sys.argv[1] + "/wrong.npz", **{"in:x": x, "out:y": y + np.array([[0, 0], [0, 1]], np.float32)})
