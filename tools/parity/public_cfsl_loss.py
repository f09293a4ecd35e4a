# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Loss, logits and meta-gradient in float64 by the code of MAML++ and CFSL, for `tools/parity`.

Serves two repositories: HowToTrainYourMAMLPytorch (MAML++) and FewShotContinualLearning (CFSL:
MAML++ low-end and high-end, SCA and ProtoNets over several support sets). Their model runs
unmodified; its parameters are replaced by those that are given. Names and shapes of arrays are the
suite's; see `public_cfsl_layout.py`.

Settings: `config`, a file of their `experiment_config`; `arguments` that replace its values;
`epoch`; `epsilon` of batch norm and `slope` of the leaky ReLU (None: theirs, 1e-5 and 0.01).
"""

from __future__ import annotations

import os
import pathlib
import sys
from typing import Any

import public_cfsl_layout
import public_code

_SYSTEMS = {"maml++_low-end": "VGGMAMLFewShotClassifier",
            "maml++_high-end": "EmbeddingMAMLFewShotClassifier",
            "vgg-matching_network": "MatchingNetworkFewShotClassifier"}
_EPISODES = ("support", "support_labels", "target", "target_labels")


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


def _set_constants(model: Any, epsilon: float | None, slope: float | None) -> None:
  """Sets the epsilon of all batch norms and the slope of all leaky ReLUs that are given."""
  from torch.nn import functional
  leaky_relu = functional.leaky_relu
  if slope:
    functional.leaky_relu = lambda x, negative_slope=slope, inplace=False: leaky_relu(x, slope)
  for module in model.modules():
    if epsilon and "BatchNorm" in type(module).__name__:
      module.eps = epsilon


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
    given = {name: arrays.pop(name) for name in _EPISODES}
    support, target = (torch.from_numpy(np.moveaxis(given[name], -1, -3).copy())
                       for name in ("support", "target"))
    model = _model(checkout, arguments, tuple(target.shape[2:]))
  _set_constants(model, settings["epsilon"], settings["slope"])
  model.train()
  model.current_epoch = settings["epoch"]
  layout = public_cfsl_layout.Layout(model, arrays)
  layout.assign()
  labels = [torch.from_numpy(given[f"{name}_labels"]).long() for name in ("support", "target")]
  batch = _batch(checkout, support, target, labels)
  if hasattr(model, "inner_loop_optimizer"):
    losses, logits = model.train_forward_prop(data_batch=batch, epoch=settings["epoch"])
  else:
    losses, logits = model.forward(data_batch=batch, training_phase=True)
  losses["loss"].backward()
  logits = [one.detach().numpy() if torch.is_tensor(one) else one for one in logits]
  return {"loss": losses["loss"].detach().numpy(), "logits": np.stack(logits),
          **layout.gradients()}


def _batch(checkout: pathlib.Path, support: Any, target: Any, labels: Any) -> tuple[Any, ...]:
  """The episodes as their loops read them: sets, then classes, then images of a class."""
  import torch
  support_labels, target_labels = labels
  unused = torch.zeros(1)
  if (checkout / "inner_loop_optimizers.py").exists():
    assert support.shape[1] == 1
    return (support[:, 0, :, None], target[:, :, None], support_labels[:, 0, :, None],
            target_labels[:, :, None])
  return (support[:, :, :, None], target[:, :, None], support_labels[..., None],
          target_labels[:, :, None], unused, unused)


if __name__ == "__main__":
  sys.exit(public_code.serve(answer, packages=("torch", "numpy")))
