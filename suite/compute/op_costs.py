# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""FLOPs and multiply-adds of the supported op types; the types that cost nothing.

The numbers equal TensorFlow's registered statistics where those exist and are right (a test
compares them); the rest follows the same convention: a function value (exp, tanh, ...) is one FLOP,
a comparison or a selection is one, and a compound op is the sum of its steps.

FLOPs are floating-point: an op whose tensors are all integers or booleans (indices, loop counters,
shapes, masks) costs 0. The walk of `flops` applies that rule before it asks this table.

Multiply-adds of convolutions and matrix products, the ops that `macs` counts.

Every rule takes a `node` (see graph_frame.Node) and returns (flops, macs). Positions in the zero
padding count like any other, as in the papers' hand counts and in TensorFlow's statistics.
Letters: B batch, H W space, C channels in, G groups, F filters, K kernel height times width.

An op type that is not listed is not assumed to be free. An op is free if it moves, names, reshapes,
stores, draws or checks values without arithmetic on them. Random draws are free by decision:
generators shuffle integer bits, and their cost depends on the generator, not on the method under
study. Casts are free too.
"""

from __future__ import annotations

import math

# --- FLOPs per element of the result -----------------------------------------------------------

_ONE_PER_OUTPUT = """
Add AddV2 Sub Mul RealDiv Div DivNoNan MulNoNan FloorDiv TruncateDiv FloorMod Mod TruncateMod
Maximum Minimum Pow Atan2 Xdivy Xlogy Equal NotEqual Less LessEqual Greater GreaterEqual
ApproximateEqual LogicalAnd LogicalOr LogicalNot BitwiseAnd BitwiseOr BitwiseXor Invert LeftShift
RightShift Select SelectV2 Neg Abs Sign Square Sqrt Reciprocal Inv Exp Expm1 Log Log1p Sin Cos Tan
Asin Acos Atan Sinh Cosh Tanh Asinh Acosh Atanh Erf Erfc Erfinv Ndtri Lgamma Digamma Sigmoid
Softplus Softsign Relu Relu6 LeakyRelu Elu Selu Floor Ceil Round Rint IsNan IsInf IsFinite
ReluGrad Relu6Grad LeakyReluGrad BiasAdd BiasAddV1 Cumsum Cumprod
"""
_PER_OUTPUT = dict.fromkeys(_ONE_PER_OUTPUT.split(), 1)
_PER_OUTPUT.update({
    "Rsqrt": 2,
    "SquaredDifference": 2,
    "ClipByValue": 2,
    "Xlog1py": 2,
    "RsqrtGrad": 4,  # -dy/2 * y * y * y
    "SqrtGrad": 2,  # dy/2 / y
    "ReciprocalGrad": 3,  # -dy * y * y
    "InvGrad": 3,
    "SigmoidGrad": 3,  # dy * y * (1 - y)
    "TanhGrad": 3,  # dy * (1 - y * y)
    "SoftplusGrad": 3,  # dy / (1 + exp(-x))
    "SoftsignGrad": 4,  # dy / (1 + |x|) ** 2
    "EluGrad": 2,
    "SeluGrad": 2,
    "Softmax": 5,  # max, subtract, exp, sum, divide
    "LogSoftmax": 5,
    "ResizeBilinear": 9,  # three linear interpolations of three FLOPs each
    "CropAndResize": 9,
    "ResizeBicubic": 35,  # five cubic interpolations, 4 products and 3 sums each
    "AdjustContrastv2": 4,  # mean, subtract, scale, add
    "CollectiveReduce": 1,
    "CollectiveReduceV2": 1,
    "CollectiveReduceV3": 1,
    "NcclAllReduce": 1,
})

# --- FLOPs per element of one input: {type: (input, FLOPs)} --------------------------------------

_PER_INPUT = {
    "Mean": (0, 1),  # sums, then one division an output
    "EuclideanNorm": (0, 2),
    "SegmentSum": (0, 1),
    "SegmentMean": (0, 1),
    "SegmentMax": (0, 1),
    "SegmentMin": (0, 1),
    "SegmentProd": (0, 1),
    "UnsortedSegmentSum": (0, 1),
    "UnsortedSegmentMax": (0, 1),
    "UnsortedSegmentMin": (0, 1),
    "UnsortedSegmentProd": (0, 1),
    "ScatterNd": (1, 1),  # equal indices add up
    "TensorScatterAdd": (2, 1),
    "TensorScatterSub": (2, 1),
    "TensorScatterMax": (2, 1),
    "TensorScatterMin": (2, 1),
    "Bincount": (0, 1),
    "DenseBincount": (0, 1),
    "InTopK": (0, 1),
    "InTopKV2": (0, 1),
    "ResizeNearestNeighborGrad": (0, 1),
    "ResizeBilinearGrad": (0, 8),  # four weighted additions
    "AssignAddVariableOp": (1, 1),
    "AssignSubVariableOp": (1, 1),
    "ResourceScatterAdd": (2, 1),
    "ResourceScatterSub": (2, 1),
    "ResourceScatterMul": (2, 1),
    "ResourceScatterDiv": (2, 1),
    "ResourceScatterMax": (2, 1),
    "ResourceScatterMin": (2, 1),
    "ResourceScatterNdAdd": (2, 1),
    "ResourceScatterNdSub": (2, 1),
    # Optimizer updates: (position of the gradient, FLOPs per parameter).
    "ResourceApplyGradientDescent": (2, 2),  # w -= lr * g
    "ResourceApplyMomentum": (3, 4),  # a = m * a + g; w -= lr * a
    "ResourceApplyKerasMomentum": (3, 4),  # a = m * a - lr * g; w += a
    "ResourceApplyAdam": (9, 12),  # m: 3, v: 4, root, epsilon, lr, divide, subtract
    "ResourceApplyAdamWithAmsgrad": (10, 13),
    "ResourceApplyAdaMax": (8, 10),
    "ResourceApplyAdagrad": (3, 7),  # a += g * g; w -= lr * g / sqrt(a)
    "ResourceApplyAdagradV2": (4, 7),
    "ResourceApplyAdadelta": (6, 14),
    "ResourceApplyRMSProp": (7, 11),  # s: 4, momentum: 6, w: 1
    "ResourceApplyCenteredRMSProp": (8, 16),
    "ResourceSparseApplyMomentum": (3, 4),
    "ResourceSparseApplyKerasMomentum": (3, 4),
    "ResourceSparseApplyAdagrad": (3, 7),
    "ResourceSparseApplyAdagradV2": (4, 7),
    "ResourceSparseApplyRMSProp": (7, 11),
}
_NESTEROV_EXTRA = {  # FLOPs per parameter on top, where the op's use_nesterov is set
    "ResourceApplyMomentum": 2,
    "ResourceApplyKerasMomentum": 2,
    "ResourceApplyAdam": 3,
    "ResourceSparseApplyMomentum": 2,
    "ResourceSparseApplyKerasMomentum": 2,
}

# --- Reductions: one FLOP per element that is summed away ---------------------------------------

_REDUCTIONS = ["Sum", "Prod", "Max", "Min", "All", "Any", "ArgMax", "ArgMin", "BiasAddGrad",
               "MirrorPadGrad"]

# --- Pooling: {type: (input that has the pooled shape or None for the result, per cell, extra)} ---

_POOLS = {
    "AvgPool": (None, 1, 0),
    "AvgPool3D": (None, 1, 0),
    "MaxPool": (None, 1, 0),
    "MaxPool3D": (None, 1, 0),
    "MaxPoolWithArgmax": (None, 1, 0),
    "AvgPoolGrad": (1, 2, 0),  # scale and add at each cell of each window
    "AvgPool3DGrad": (1, 2, 0),
    "MaxPoolGrad": (1, 1, 1),  # finds the maximum again, then adds one value a window
    "MaxPool3DGrad": (1, 1, 1),
    "MaxPoolGradGrad": (1, 1, 0),
    "MaxPool3DGradGrad": (1, 1, 0),
    "MaxPoolGradWithArgmax": (1, 0, 1),
    "MaxPoolGradGradWithArgmax": (1, 0, 0),
}
_VALUES = """
Const HostConst Placeholder PlaceholderV2 PlaceholderWithDefault FakeParam Identity IdentityN NoOp
DeepCopy Snapshot StopGradient PreventGradient GuaranteeConst EnsureShape Cast Bitcast Real Imag
Complex Fill Empty ZerosLike OnesLike OneHot Range LinSpace Copy CopyHost DebugIdentityV2
DebugIdentityV3 _Arg _Retval _DeviceArg _DeviceRetval
"""
_SHAPES = """
Shape ShapeN Size Rank VariableShape BroadcastArgs BroadcastGradientArgs ConcatOffset
InvertPermutation DataFormatDimMap DataFormatVecPermute
"""
_MOVES = """
Reshape Squeeze ExpandDims Transpose ConjugateTranspose Concat ConcatV2 ParallelConcat Split SplitV
Pack Unpack Slice StridedSlice StridedSliceGrad StridedSliceAssign TensorStridedSliceUpdate
ResourceStridedSliceAssign Gather GatherV2 GatherNd ResourceGather ResourceGatherNd Tile Pad PadV2
MirrorPad BroadcastTo Reverse ReverseV2 ReverseSequence Roll SpaceToBatch SpaceToBatchND
BatchToSpace BatchToSpaceND SpaceToDepth DepthToSpace ExtractImagePatches ExtractVolumePatches
ResizeNearestNeighbor Where Unique UniqueV2 UniqueWithCounts UniqueWithCountsV2 ListDiff Diag
DiagPart MatrixDiag MatrixDiagV2 MatrixDiagV3 MatrixDiagPart MatrixDiagPartV2 MatrixDiagPartV3
MatrixSetDiag MatrixSetDiagV2 MatrixSetDiagV3 MatrixBandPart DynamicPartition DynamicStitch
ParallelDynamicStitch ScatterNdUpdate TensorScatterUpdate ResourceScatterUpdate
ResourceScatterNdUpdate InplaceUpdate Send Recv _Send _Recv _HostSend _HostRecv
"""
_STATE = """
VarHandleOp VarIsInitializedOp ReadVariableOp AssignVariableOp DestroyResourceOp DisableCopyOnRead
VariableV2 Assign IsVariableInitialized ResourceCountUpTo MutexV2 MutexLock ConsumeMutexLock
StubResourceHandleOp
"""
_LISTS = """
EmptyTensorList TensorListReserve TensorListFromTensor TensorListStack TensorListGetItem
TensorListSetItem TensorListPushBack TensorListPushBackBatch TensorListPopBack TensorListLength
TensorListElementShape TensorListResize TensorListGather TensorListScatter TensorListScatterV2
TensorListScatterIntoExistingList TensorListConcat TensorListConcatV2 TensorListConcatLists
TensorListSplit TensorArrayV3 TensorArrayReadV3 TensorArrayWriteV3 TensorArrayGatherV3
TensorArrayScatterV3 TensorArrayConcatV3 TensorArraySplitV3 TensorArraySizeV3 TensorArrayCloseV3
EmptyTensorMap TensorMapErase TensorMapHasKey TensorMapInsert TensorMapLookup TensorMapSize
TensorMapStackKeys OptionalNone OptionalFromValue OptionalHasValue OptionalGetValue
"""
_RANDOM = """
RandomUniform RandomUniformInt RandomStandardNormal TruncatedNormal ParameterizedTruncatedNormal
RandomGamma RandomPoissonV2 RandomShuffle RandomIndexShuffle Multinomial
StatelessRandomUniform StatelessRandomUniformV2 StatelessRandomUniformInt
StatelessRandomUniformIntV2 StatelessRandomUniformFullInt StatelessRandomUniformFullIntV2
StatelessRandomNormal StatelessRandomNormalV2 StatelessTruncatedNormal StatelessTruncatedNormalV2
StatelessParameterizedTruncatedNormal StatelessRandomGammaV2 StatelessRandomGammaV3
StatelessRandomPoisson StatelessRandomBinomial StatelessMultinomial StatelessShuffle
StatelessRandomGetAlg StatelessRandomGetKeyCounter StatelessRandomGetKeyCounterAlg
StatelessSampleDistortedBoundingBox SampleDistortedBoundingBox SampleDistortedBoundingBoxV2
StatefulUniform StatefulUniformInt StatefulUniformFullInt StatefulStandardNormal
StatefulStandardNormalV2 StatefulTruncatedNormal StatefulRandomBinomial RngReadAndSkip RngSkip
NonDeterministicInts AnonymousSeedGenerator AnonymousRandomSeedGenerator
"""
_CHECKS = """
Assert CheckNumerics CheckNumericsV2 Print PrintV2 IsTensorFloat32Enabled Abort Timestamp
ControlTrigger MergeSummary CollectiveGather CollectiveGatherV2 CollectiveBcastSend
CollectiveBcastSendV2 CollectiveBcastRecv CollectiveBcastRecvV2 CollectiveInitializeCommunicator
CollectiveAssignGroupV2 CollectivePermute NcclBroadcast XlaSharding TPUReplicateMetadata
TPUReplicatedInput TPUReplicatedOutput TPUPartitionedInput TPUPartitionedInputV2
TPUPartitionedOutput TPUPartitionedOutputV2 DeviceIndex
"""
_TEXT_AND_IO = """
AsString StringFormat StringJoin StringLength StringLower StringUpper StringStrip StringSplit
StringSplitV2 StringToNumber Substr RegexReplace StaticRegexReplace RegexFullMatch
StaticRegexFullMatch StringToHashBucketFast StringToHashBucketStrong HashTableV2 LookupTableFindV2
LookupTableSizeV2 LookupTableInsertV2 LookupTableImportV2 LookupTableExportV2 MutableHashTableV2
AnonymousHashTable AnonymousMutableHashTable WriteSummary WriteScalarSummary WriteImageSummary
WriteHistogramSummary WriteRawProtoSummary WriteGraphSummary SummaryWriter CreateSummaryFileWriter
FlushSummaryWriter CloseSummaryWriter ImportEvent
Iterator IteratorV2 IteratorGetNext IteratorGetNextSync IteratorGetNextAsOptional AnonymousIterator
AnonymousIteratorV2 AnonymousIteratorV3 MakeIterator DeleteIterator
MultiDeviceIteratorGetNextFromShard MultiDeviceIteratorToStringHandle
MultiDeviceIteratorFromStringHandle IteratorToStringHandle IteratorFromStringHandleV2
"""
FREE = frozenset(
    " ".join((_VALUES, _SHAPES, _MOVES, _STATE, _LISTS, _RANDOM, _CHECKS, _TEXT_AND_IO)).split()
)


def _elements(shape) -> int:
  return math.prod(shape)


def _reduction(node) -> int:
  return _elements(node.input(0)) - _elements(node.output(0))


def _pool(node) -> int:
  source, per_cell, extra = _POOLS[node.type]
  pooled = _elements(node.output(0) if source is None else node.input(source))
  window = math.prod(node.attr("ksize")) if per_cell else 0
  return pooled * (per_cell * window + extra)


def _pool_v2(node) -> int:
  """Cost of MaxPoolV2 and its gradient, which take the window as a tensor."""
  if node.type == "MaxPoolV2":
    return _elements(node.output(0)) * math.prod(node.value(1))
  return _elements(node.input(1)) * (math.prod(node.value(3)) + 1)


def _per_input(node) -> int:
  index, each = _PER_INPUT[node.type]
  if node.type in _NESTEROV_EXTRA and node.attr("use_nesterov"):
    each += _NESTEROV_EXTRA[node.type]
  return each * _elements(node.input(index))


def _add_n(node) -> int:
  return (node.num_inputs - 1) * _elements(node.output(0))


def _l2_loss(node) -> int:
  return 3 * _elements(node.input(0)) - 1


def _batch_norm(node) -> int:
  """Cost of batch norm. Training: mean 1, variance 3, scale and shift 2, for each element.

  Inference: scale and shift. A channel's factors (two means, epsilon, rsqrt 2, gamma) are 6 more,
  and the moving averages, where the op keeps them (old * (1 - f) + new * f), another 6.
  """
  elements, channels = _elements(node.input(0)), _elements(node.input(1))
  if not node.attr("is_training"):
    return 2 * elements + 6 * channels
  return 6 * elements + (6 if node.attr("exponential_avg_factor") == 1 else 12) * channels


def _batch_norm_grad(node) -> int:
  """Cost per element, training: x_hat 2, dbeta 1, dgamma 2, dx 4; inference: dx is one product."""
  elements, channels = _elements(node.input(0)), _elements(node.input(2))
  return (9 if node.attr("is_training") else 6) * elements + 6 * channels


def _softmax_cross_entropy(node) -> int:
  """Cost: softmax 5, label times log-probability 2, minus the label 1; a logarithm per row."""
  return 8 * _elements(node.output(1)) + _elements(node.output(0))


def _sparse_softmax_cross_entropy(node) -> int:
  """Cost: softmax 5; a logarithm and two subtractions per row."""
  return 5 * _elements(node.output(1)) + 3 * _elements(node.output(0))


def _top_k(node) -> int:
  """Cost of a heap of K: log2(K) comparisons per element (at least one)."""
  kept = node.output(0)[-1]
  return _elements(node.input(0)) * max(1, math.ceil(math.log2(max(kept, 1))))


def _log_sum_exp(node) -> int:
  return 4 * _elements(node.output(0))


def _dilation(node) -> int:
  return 2 * math.prod(node.input(1)[:2]) * _elements(node.output(0))


def _projective_transform(node) -> int:
  """Cost per pixel: x, y and divisor (4 each), two divisions; then the color channels."""
  out = node.output(0)
  each = 9 if node.attr("interpolation") == b"BILINEAR" else 0
  return 14 * math.prod(out[:3]) + each * _elements(out)


def _cholesky(node) -> int:
  """Cost: n**3 / 3 for each matrix of [.., n, n]."""
  shape = node.input(0)
  return math.prod(shape[:-2]) * shape[-1] ** 3 // 3


def _eigen(node) -> int:
  """Cost: 9 n**3 for values and vectors of symmetric [.., n, n] (Golub & Van Loan, section 8.3)."""
  shape = node.input(0)
  return math.prod(shape[:-2]) * 9 * shape[-1] ** 3


def _inverse(node) -> int:
  shape = node.input(0)
  return math.prod(shape[:-2]) * 2 * shape[-1] ** 3


def _solve(node) -> int:
  """Cost: LU 2/3 n**3, then two triangular solves of n**2 per column."""
  shape, right = node.input(0), node.input(1)
  return math.prod(shape[:-2]) * (2 * shape[-1] ** 3 // 3 + 2 * shape[-1] ** 2 * right[-1])


def _triangular_solve(node) -> int:
  shape, out = node.input(0), node.output(0)
  return shape[-1] * _elements(out)


def _per_output(node) -> int:
  return _PER_OUTPUT[node.type] * _elements(node.output(0))


COSTS = {
    **dict.fromkeys(_PER_OUTPUT, _per_output),
    **dict.fromkeys(_PER_INPUT, _per_input),
    **dict.fromkeys(_REDUCTIONS, _reduction),
    **dict.fromkeys(_POOLS, _pool),
    "MaxPoolV2": _pool_v2,
    "MaxPoolGradV2": _pool_v2,
    "AddN": _add_n,
    "AccumulateNV2": _add_n,
    "L2Loss": _l2_loss,
    "FusedBatchNorm": _batch_norm,
    "FusedBatchNormV2": _batch_norm,
    "FusedBatchNormV3": _batch_norm,
    "FusedBatchNormGrad": _batch_norm_grad,
    "FusedBatchNormGradV2": _batch_norm_grad,
    "FusedBatchNormGradV3": _batch_norm_grad,
    "SoftmaxCrossEntropyWithLogits": _softmax_cross_entropy,
    "SparseSoftmaxCrossEntropyWithLogits": _sparse_softmax_cross_entropy,
    "TopKV2": _top_k,
    "CumulativeLogsumexp": _log_sum_exp,
    "Dilation2D": _dilation,
    "ImageProjectiveTransformV2": _projective_transform,
    "ImageProjectiveTransformV3": _projective_transform,
    "Cholesky": _cholesky,
    "SelfAdjointEigV2": _eigen,
    "MatrixInverse": _inverse,
    "MatrixSolve": _solve,
    "MatrixTriangularSolve": _triangular_solve,
}


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
  equation = node.attr("equation").decode().replace(" ", "")
  left, result = equation.split("->")
  operands, widest = [], 0  # (labels, shape) of each operand; "..." becomes (1,), (0,).
  for term, shape in zip(left.split(","), [node.input(i) for i in range(node.num_inputs)]):
    hidden = len(shape) - len(term.replace("...", ""))
    widest = max(widest, hidden)
    operands.append((_expand(term, hidden), shape))
  result = _expand(result, widest)
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


def _expand(term: str, hidden: int) -> list:
  """Labels of one term; the dimensions of an ellipsis are numbered from the right."""
  if "..." not in term:
    return list(term)
  before, after = term.split("...")
  return list(before) + [(hidden - 1 - i,) for i in range(hidden)] + list(after)


MAC_COSTS = {
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
