# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Runs what methods add to transformers, in LAMDA-PILOT and InfLoRA, on given weights.

Settings: `method`, one of `_METHODS`, and others by method.
"""

from __future__ import annotations

import importlib
import pathlib
import sys
import types
from typing import Any

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))

import numpy as np
import public_code
import torch

_STAND_INS = (
    "torchvision", "torchvision.transforms", "torchvision.datasets", "torchvision.models", "timm",
    "timm.data", "timm.layers", "timm.models", "timm.models._builder", "timm.models._manipulate",
    "timm.models._pretrained", "timm.models._registry", "timm.models.helpers",
    "timm.models.layers", "timm.models.layers.helpers", "timm.models.layers.weight_init",
    "timm.models.registry", "timm.models.vision_transformer", "easydict", "ipdb", "tqdm",
    "sklearn", "sklearn.cluster")
Arrays = public_code.Arrays


def _imported(name: str) -> Any:
  with public_code.stand_ins(*_STAND_INS):
    return importlib.import_module(name)


def _parameter(values: np.ndarray) -> torch.nn.Parameter:
  return torch.nn.Parameter(torch.from_numpy(values.copy()))


def _l2p(arrays: Arrays, settings: dict[str, Any]) -> Arrays:
  pool = _imported("backbone.prompt").Prompt(
      length=arrays["prompts"].shape[1], embed_dim=arrays["prompts"].shape[2], embedding_key="cls",
      prompt_pool=True, prompt_key=True, pool_size=len(arrays["keys"]), top_k=settings["chosen"])
  pool.prompt_key, pool.prompt = _parameter(arrays["keys"]), _parameter(arrays["prompts"])
  queries = torch.from_numpy(arrays["queries"])
  found = pool(queries[:, None], cls_features=queries)
  feature = found["prompted_embedding"][:, :found["total_prompt_len"]].mean(1)
  ((feature * torch.from_numpy(arrays["upstream"])).sum()
   - settings["pull"] * found["reduce_sim"]).backward()
  return {"feature": feature.detach().numpy(), "gradient_of_keys": pool.prompt_key.grad.numpy(),
          "gradient_of_prompts": pool.prompt.grad.numpy()}


def _coda_prompt(arrays: Arrays, settings: dict[str, Any]) -> Arrays:
  """Prefixes of the second task, the orthogonality loss, and the gradients of its components."""
  blocks, size, length, width = arrays["prompts"].shape
  module = _imported("backbone.prompt").CodaPrompt(
      width, 2, [size, length, settings["orthogonality"]], width)
  module.task_count = 1
  for block in range(blocks):
    for name, pool in (("k", "keys"), ("a", "attention"), ("p", "prompts")):
      setattr(module, f"e_{name}_{block}", _parameter(arrays[pool][block]))
  prefixes, total, value = [], 0.0, 0.0
  for block in range(blocks):
    both, loss, _ = module(torch.from_numpy(arrays["queries"]), block, None, train=True)
    prefixes.append(torch.cat(both, 1))
    total += loss
    value += (prefixes[-1] * torch.from_numpy(arrays["upstream"][block])).sum()
  (total + value).backward()
  grads = {pool: np.stack([getattr(module, f"e_{name}_{block}").grad.numpy()
                           for block in range(blocks)])
           for name, pool in (("k", "keys"), ("a", "attention"), ("p", "prompts"))}
  return {"prefixes": np.stack([part.detach().numpy() for part in prefixes]),
          "loss": np.asarray(total.detach().numpy()),
          **{f"gradient_of_{pool}": values for pool, values in grads.items()}}


def _dual_prompt(arrays: Arrays, settings: dict[str, Any]) -> Arrays:
  """Prefixes in training, of the task `settings["task"]`, and in testing; the similarity.

  One image at a time: of several, theirs mixes images with the pair of key and value.
  """
  layers, _, size, length, width = arrays["prefixes"].shape
  pool = _imported("backbone.prompt").EPrompt(
      length=length, embed_dim=width, embedding_key="cls", prompt_pool=True, prompt_key=True,
      pool_size=size, top_k=1, num_layers=layers, use_prefix_tune_for_e_prompt=True, num_heads=2)
  pool.prompt_key = _parameter(arrays["keys"])
  pool.prompt = _parameter(arrays["prefixes"].reshape(layers, 2, size, length, 2, -1))
  found: dict[str, list[np.ndarray]] = {"training": [], "testing": [], "similarities": []}
  for query in torch.from_numpy(arrays["queries"])[:, None]:
    for name, mask in (("training", torch.tensor([[settings["task"]]])), ("testing", None)):
      out = pool(query[:, None], prompt_mask=mask, cls_features=query)
      found[name].append(
          out["batched_prompt"].detach().numpy().reshape(layers, 2, length, width))
      if mask is not None:
        found["similarities"].append(out["reduce_sim"].detach().numpy())
  return {name: np.stack(values) for name, values in found.items()}


def _adapter(arrays: Arrays, settings: dict[str, Any]) -> Arrays:
  width, size = arrays["down"].shape
  adapter = _imported(settings["module"]).Adapter(
      d_model=width, bottleneck=size, init_option="lora", adapter_scalar=str(settings["scale"]),
      adapter_layernorm_option="none")
  for layer, name in ((adapter.down_proj, "down"), (adapter.up_proj, "up")):
    layer.weight, layer.bias = _parameter(arrays[name].T), _parameter(arrays[f"{name}_bias"])
  tokens = torch.from_numpy(arrays["tokens"])
  return {"added": adapter(tokens, add_residual=False).detach().numpy()}


def _completed(arrays: Arrays) -> np.ndarray:
  """EASE's prototypes after all subspaces were completed again."""
  num, tasks, width = arrays["prototypes"].shape
  each, learner = num // tasks, _imported("models.ease").Learner
  weights = torch.from_numpy(arrays["prototypes"].reshape(num, -1).copy())
  fc = types.SimpleNamespace(weight=types.SimpleNamespace(data=weights))
  this = types.SimpleNamespace(
      _cur_task=tasks - 1, moni_adam=False, use_init_ptm=False, init_cls=each, inc=each,
      _total_classes=num, _device="cpu", _network=types.SimpleNamespace(fc=fc, out_dim=width),
      get_cls_range=lambda task_id: (each * task_id, each * (task_id + 1)))
  learner.solve_sim_reset(this)
  return weights.numpy().reshape(num, tasks, width)


def _ease(arrays: Arrays, settings: dict[str, Any]) -> Arrays:
  return {**_adapter(arrays, settings), "prototypes": _completed(arrays)}


def _inf_lora(arrays: Arrays, settings: dict[str, Any]) -> Arrays:
  """Projections onto the spaces of inputs, given the inputs themselves instead of their products.

  The first space is that of ours: theirs holds less than the threshold.
  """
  learner = _imported("methods.inflora").InfLoRA
  this = types.SimpleNamespace(lamb=settings["threshold"], lame=settings["threshold"], _cur_task=0,
                               total_sessions=1, feature_list=[], project_type=[])
  learner.update_DualGPM(this, [arrays["inputs"][0].T])
  num = this.feature_list[0].shape[1]
  this.feature_list = [np.linalg.svd(arrays["inputs"][0].T)[0][:, :num + 1]]
  this.project_type = ["remove"]
  found = []
  for rows in arrays["inputs"][1:]:
    learner.update_DualGPM(this, [rows.T])
    basis = this.feature_list[0]
    held = basis @ basis.T
    found.append(held if this.project_type[0] == "remove" else np.eye(len(held)) - held)
  return {"directions_of_the_first": np.asarray(num), "projections": np.stack(found)}


def _lora(arrays: Arrays, settings: dict[str, Any]) -> Arrays:
  """What a low-rank change adds to values: the attention is even, all other products are 0."""
  width, rank = arrays["a"].shape
  attention = _imported("models.vit_inflora").Attention_LoRA(width, num_heads=1, r=rank, n_tasks=1)
  attention.qkv.weight = _parameter(np.zeros([3 * width, width], np.float32))
  attention.proj.weight = _parameter(np.eye(width, dtype=np.float32))
  attention.proj.bias = _parameter(np.zeros(width, np.float32))
  for name in ("k", "v"):
    for part in ("A", "B"):
      getattr(attention, f"lora_{part}_{name}")[0].weight = _parameter(arrays[part.lower()].T)
  return {"mean": attention(torch.from_numpy(arrays["tokens"]), 0)[:, 0].detach().numpy()}


_METHODS = {"lora": _lora, "l2p": _l2p, "coda_prompt": _coda_prompt, "dual_prompt": _dual_prompt,
            "aper_adapter": _adapter, "ease": _ease, "inf_lora": _inf_lora}


def _answer(checkout: pathlib.Path, arrays: Arrays, settings: dict[str, Any]) -> Arrays:
  sys.path.insert(0, str(checkout))
  torch.manual_seed(0)
  return _METHODS[settings["method"]](arrays, settings)


if __name__ == "__main__":
  sys.exit(public_code.serve(_answer, ("torch", "numpy")))
