"""A one-node ONNX model of TopK, and its session."""

from __future__ import annotations

from typing import Any

import onnxruntime
from onnx import TensorProto, helper

__all__ = ["session"]


def session(threads: int) -> Any:
    """Return an ONNX Runtime session of TopK(x, k) along the last axis."""
    graph = helper.make_graph(
        [helper.make_node("TopK", ["x", "k"], ["values", "indices"])],
        "top_k",
        [
            helper.make_tensor_value_info("x", TensorProto.FLOAT, [None, None]),
            helper.make_tensor_value_info("k", TensorProto.INT64, [1]),
        ],
        [
            helper.make_tensor_value_info("values", TensorProto.FLOAT, [None, None]),
            helper.make_tensor_value_info("indices", TensorProto.INT64, [None, None]),
        ],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=9)
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    options.inter_op_num_threads = 1
    return onnxruntime.InferenceSession(model.SerializeToString(), options, ["CPUExecutionProvider"])
