# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Multiply-adds of convolutions and matrix products, the ops that `macs` counts.

Every rule takes a `node` (see graph_frame.Node) and returns (flops, macs). Positions in the zero
padding count like any other, as in the papers' hand counts and in TensorFlow's statistics.
Letters: B batch, H W space, C channels in, G groups, F filters, K kernel height times width.
"""

from __future__ import annotations

import math


def _pair(macs: int) -> tuple[int, int]:
  return 2 * macs, macs


def conv(node) -> tuple[int, int]:
  """Cost of Conv2D and Conv3D: each of the B*H*W*F outputs sums K * C/G products.

  The filter's shape is [.., C/G, F], so groups need no special case.
  """
  return _pair(math.prod(node.input(1)[:-1]) * math.prod(node.output(0)))


def conv_input_grad(node) -> tuple[int, int]:
  """Cost of the input gradient: each element of [B, H, W, F] times K * C/G weights."""
  return _pair(math.prod(node.input(1)[:-1]) * math.prod(node.input(2)))


def conv_filter_grad(node) -> tuple[int, int]:
  """Cost of the filter gradient: each element of [B, H, W, F] times K * C/G pixels."""
  return _pair(math.prod(node.output(0)[:-1]) * math.prod(node.input(2)))


def depthwise(node) -> tuple[int, int]:
  """Cost of a depthwise convolution, filter [H, W, C, M]: each output sums K products."""
  return _pair(math.prod(node.input(1)[:2]) * math.prod(node.output(0)))


def depthwise_input_grad(node) -> tuple[int, int]:
  return _pair(math.prod(node.input(1)[:2]) * math.prod(node.input(2)))


def depthwise_filter_grad(node) -> tuple[int, int]:
  return _pair(math.prod(node.output(0)[:2]) * math.prod(node.input(2)))


def matmul(node) -> tuple[int, int]:
  """Cost of [M, K] x [K, N]: M*N sums of K products."""
  return _pair(node.input(0)[0 if node.attr("transpose_a") else 1] * math.prod(node.output(0)))


def batch_matmul(node) -> tuple[int, int]:
  """Cost of [.., M, K] x [.., K, N], the batch dimensions broadcast."""
  return _pair(node.input(0)[-2 if node.attr("adj_x") else -1] * math.prod(node.output(0)))


def _fused(base, node) -> tuple[int, int]:
  """Cost of a product with an epilogue: bias and activations cost 1 an output, batch norm 2."""
  flops, macs = base(node)
  per_output = {b"BiasAdd": 1, b"FusedBatchNorm": 2, b"Add": 1}
  extra = sum(per_output.get(name, 1) for name in node.attr("fused_ops"))
  return flops + extra * math.prod(node.output(0)), macs


def fused_conv(node) -> tuple[int, int]:
  return _fused(conv, node)


def fused_matmul(node) -> tuple[int, int]:
  return _fused(matmul, node)


def einsum(node) -> tuple[int, int]:
  """Cost of any einsum of one or two tensors.

  A label that is in one operand only and not in the result is summed over first (additions). The
  rest is a batched matrix product: one multiply-add per point of the labels' grid.
  """
  operands, result = _einsum_labels(node)
  sizes: dict = {}
  for labels, shape in operands:
    for label, size in zip(labels, shape):
      sizes[label] = max(size, sizes.get(label, 1))  # an ellipsis dimension may be broadcast
  additions, kept = 0, []
  for index, (labels, shape) in enumerate(operands):
    elsewhere = set(result).union(*(o[0] for i, o in enumerate(operands) if i != index))
    left = {label: size for label, size in zip(labels, shape) if label in elsewhere}
    if len(set(labels)) == len(labels):  # a repeated label takes a diagonal: no arithmetic
      additions += math.prod(shape) - math.prod(left.values())
    else:
      additions += math.prod(sizes[x] for x in set(labels)) - math.prod(left.values())
    kept.append(left)
  if len(operands) == 1:
    return additions, 0
  macs = math.prod(sizes[label] for label in set().union(*kept))
  return additions + 2 * macs, macs


def _einsum_labels(node) -> tuple[list, list]:
  """([(labels, shape) of each operand], labels of the result); "..." becomes (1,), (0,)."""
  equation = node.attr("equation").decode().replace(" ", "")
  left, result = equation.split("->")
  shapes = [node.input(i) for i in range(node.num_inputs)]
  operands, widest = [], 0
  for term, shape in zip(left.split(","), shapes):
    hidden = len(shape) - len(term.replace("...", ""))
    widest = max(widest, hidden)
    operands.append((_expand(term, hidden), shape))
  return operands, _expand(result, widest)


def _expand(term: str, hidden: int) -> list:
  """Labels of one term; the dimensions of an ellipsis are numbered from the right."""
  if "..." not in term:
    return list(term)
  before, after = term.split("...")
  return list(before) + [(hidden - 1 - i,) for i in range(hidden)] + list(after)


COSTS = {
    "Conv2D": conv,
    "Conv3D": conv,
    "Conv2DBackpropInput": conv_input_grad,
    "Conv3DBackpropInputV2": conv_input_grad,
    "Conv2DBackpropFilter": conv_filter_grad,
    "Conv3DBackpropFilterV2": conv_filter_grad,
    "DepthwiseConv2dNative": depthwise,
    "DepthwiseConv2dNativeBackpropInput": depthwise_input_grad,
    "DepthwiseConv2dNativeBackpropFilter": depthwise_filter_grad,
    "MatMul": matmul,
    "BatchMatMul": batch_matmul,
    "BatchMatMulV2": batch_matmul,
    "BatchMatMulV3": batch_matmul,
    "Einsum": einsum,
    "_FusedConv2D": fused_conv,
    "_FusedMatMul": fused_matmul,
}
