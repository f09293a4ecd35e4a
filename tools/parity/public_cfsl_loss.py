# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Loss, logits and meta-gradient of MAML++ in float64 by its authors' code, for `tools/parity`.

Serves two repositories: HowToTrainYourMAMLPytorch (MAML++) and FewShotContinualLearning (the same
in CFSL, over several support sets). Their model runs unmodified; its parameters are replaced by
those that are given. Names and layouts of arrays are the suite's; see `cfsl_parity.py`.

Settings: `config`, a file of their `experiment_config`; `arguments` that replace its values;
`epoch`; `epsilon` of batch norm and `slope` of the leaky ReLU (None: theirs, 1e-5 and 0.01).
"""

from __future__ import annotations

import functools
import os
import pathlib
import re
import sys
from typing import Any

import public_code

_SYSTEMS = {"maml++_low-end": "VGGMAMLFewShotClassifier"}


def _arguments(checkout: pathlib.Path, settings: dict[str, Any]) -> Any:
  os.environ.setdefault("DATASET_DIR", "none")  # A part of a path that is never opened.
  sys.argv = ["public", "--name_of_args_json_file",
              str(checkout / "experiment_config" / settings["config"])]
  from utils import parser_utils
  arguments, _ = parser_utils.get_args()
  vars(arguments).update(settings["arguments"])
  return arguments


def _model(checkout: pathlib.Path, arguments: Any, image_shape: tuple[int, ...]) -> Any:
  import few_shot_learning_system as systems
  if (checkout / "inner_loop_optimizers.py").exists():
    import torch
    return systems.MAMLFewShotClassifier(
        im_shape=(2, *image_shape), device=torch.device("cpu"), args=arguments)
  return getattr(systems, _SYSTEMS[arguments.classifier_type])(**vars(arguments))


class Parameters:
  """The parameters of their model, as arrays by our names.

  Attributes:
    weights: our name -> their parameter of the net.
    rates: their learned rates, in the order of our sorted names.
    scale, offset: their norms' parameters [rows, F], by block.
  """

  def __init__(self, model: Any):
    named = dict(model.classifier.named_parameters())
    self.weights, self.scale, self.offset = {}, {}, {}
    theirs = {}
    for name, value in named.items():
      block = re.search(r"conv_?(\d+)\.", name)
      layer = f"block{int(block.group(1)) + 1}" if block else "head"
      if "norm_layer.running" in name:
        continue
      if "norm_layer" in name:
        (self.scale if name.endswith("weight") else self.offset)[layer] = value
        continue
      own = f"{layer}/{'bias' if name.endswith('bias') else 'kernel'}"
      self.weights[own], theirs[own] = value, name.replace(".", "-")
    rates = model.inner_loop_optimizer.names_learning_rates_dict
    self.rates = [rates[theirs[own]] for own in sorted(theirs)]

  def assign(self, arrays: public_code.Arrays) -> None:
    import torch
    with torch.no_grad():
      for name, value in self.weights.items():
        value.copy_(torch.from_numpy(_theirs(name, arrays[name], value.shape)))
      for column, rate in enumerate(self.rates):
        rate[:len(arrays["inner_rates"])] = torch.from_numpy(arrays["inner_rates"][:, column])
      for key, found in (("norm_scale", self.scale), ("norm_offset", self.offset)):
        for number, value in enumerate(found[layer] for layer in sorted(found)):
          value[:len(arrays[key])] = torch.from_numpy(arrays[key][:, number])

  def gradients(self, like: public_code.Arrays) -> public_code.Arrays:
    """The gradients, as `like`; rows that we do not have are without one, or an error is raised."""
    import numpy as np
    filters = len(like["block1/bias"])
    found = {name: _ours(name, _gradient(value), filters) for name, value in self.weights.items()}
    rows = len(like["inner_rates"])
    found["inner_rates"] = np.stack([_cut(rate, rows) for rate in self.rates], axis=1)
    for key, parts in (("norm_scale", self.scale), ("norm_offset", self.offset)):
      rows = len(like[key])
      found[key] = np.stack([_cut(parts[layer], rows) for layer in sorted(parts)], axis=1)
    return found


def _gradient(value: Any) -> Any:
  import torch
  return (torch.zeros_like(value) if value.grad is None else value.grad).numpy()


def _cut(value: Any, rows: int) -> Any:
  gradient = _gradient(value)
  assert not gradient[rows:].any(), "a row beyond ours has a gradient"
  return gradient[:rows]


def _theirs(name: str, value: Any, shape: Any) -> Any:
  """Kernels [3, 3, C, F] become [F, C, 3, 3]; the head's [h w F, K] becomes [K, F h w]."""
  if name.endswith("bias"):
    return value
  if name != "head/kernel":
    return value.transpose(3, 2, 0, 1).copy()
  assert value.shape == tuple(shape)[::-1]
  return value.T.copy()  # Images of 28 pixels end as one position: h = w = 1.


def _ours(name: str, value: Any, filters: int) -> Any:
  if name.endswith("bias"):
    return value
  if name != "head/kernel":
    return value.transpose(2, 3, 1, 0)
  assert value.shape[1] == filters
  return value.T


def answer(checkout: pathlib.Path, arrays: public_code.Arrays, settings: dict[str, Any]
           ) -> public_code.Arrays:
  """Returns "loss", "logits" and the gradients by name for E episodes.

  `arrays`: the parameters; images "support" [E, S, B, H, W, C] and "target" [E, T, H, W, C] in 0..1
  with their labels, sorted by class.
  """
  import numpy as np
  import torch
  torch.set_num_threads(1)
  torch.set_default_dtype(torch.float64)
  sys.path.insert(0, str(checkout))
  with public_code.stand_ins("tqdm", "PIL", "torchvision"):
    arguments = _arguments(checkout, settings)
    support = torch.from_numpy(np.moveaxis(arrays["support"], -1, -3).copy())
    target = torch.from_numpy(np.moveaxis(arrays["target"], -1, -3).copy())
    model = _model(checkout, arguments, tuple(target.shape[2:]))
  if settings["slope"]:
    torch.nn.functional.leaky_relu = functools.partial(
        torch.nn.functional.leaky_relu, negative_slope=settings["slope"])
  if settings["epsilon"]:
    for module in model.modules():
      if type(module).__name__ == "MetaBatchNormLayer":
        module.eps = settings["epsilon"]
  model.train()
  model.current_epoch = settings["epoch"]
  parameters = Parameters(model)
  parameters.assign(arrays)
  labels = torch.from_numpy(arrays["support_labels"]).long(), torch.from_numpy(
      arrays["target_labels"]).long()
  losses, logits = model.train_forward_prop(
      data_batch=_batch(checkout, support, target, labels), epoch=settings["epoch"])
  losses["loss"].backward()
  return {"loss": losses["loss"].detach().numpy(), "logits": np.stack(logits),
          **parameters.gradients(arrays)}


def _batch(checkout: pathlib.Path, support: Any, target: Any, labels: Any) -> tuple[Any, ...]:
  """The episodes as their loops read them: sets, then classes, then images of a class."""
  support_labels, target_labels = labels
  if (checkout / "inner_loop_optimizers.py").exists():
    assert support.shape[1] == 1
    return (support[:, 0, :, None], target[:, :, None], support_labels[:, 0, :, None],
            target_labels[:, :, None])
  return (support[:, :, :, None], target[:, :, None], support_labels[..., None],
          target_labels[:, :, None], None, None)


if __name__ == "__main__":
  sys.exit(public_code.serve(answer, packages=("torch", "numpy")))
