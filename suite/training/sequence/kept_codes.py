# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Codes of a sequence by a frozen backbone, kept on disk for all learners and runs that need them.

They are the same for each learner: a file belongs to the samples, the backbone with its weights,
the preparation of images, and the batches, on which the last digits may depend. What a run is
charged does not change: it counts as if each had encoded the samples itself.
"""

from __future__ import annotations

import hashlib
import pathlib
from typing import Optional

from absl import logging
import numpy as np

from suite.contracts import learner as learner_lib
from suite.data.sequences import sequences
from suite.state import snapshots


def path(learner: learner_lib.SequenceLearner, sequence: sequences.Sequence, batch_size: int
         ) -> Optional[pathlib.Path]:
  """The file of the codes; None where they are not to be kept, or not of a frozen backbone."""
  frozen = learner.frozen_features
  if sequence.codes_folder is None or frozen is None:
    return None
  about = [frozen.digest, repr(learner.transform), str(batch_size), *sequence.ids.tolist()]
  key = hashlib.sha256("\n".join(about).encode()).hexdigest()
  return pathlib.Path(sequence.codes_folder) / f"codes_{key[:24]}.npy"


def read(file: Optional[pathlib.Path], size: int) -> Optional[np.ndarray]:
  """Codes [T, ...] of T samples, mapped; None if there are none."""
  if file is None or not file.is_file():
    return None
  try:
    found = np.load(file, mmap_mode="r", allow_pickle=False)
  except ValueError as error:
    raise ValueError(f"The codes in {file} cannot be read ({error}). Remove the file: the run "
                     "makes it again.") from error
  if len(found) != size:
    raise ValueError(f"{file} holds {len(found)} codes of {size} samples. Remove the file: the run "
                     "makes it again.")
  logging.info("The samples were encoded before: %s", file)
  return found


def write(file: Optional[pathlib.Path], codes: Optional[np.ndarray]) -> None:
  """Keeps codes [T, ...]."""
  if file is None or codes is None:
    return
  file.parent.mkdir(parents=True, exist_ok=True)
  with snapshots.saving("codes of the samples", file) as temporary:
    np.save(temporary, codes)
