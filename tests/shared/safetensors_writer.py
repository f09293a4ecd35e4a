# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Files of arrays in the format of safetensors."""

import json

import numpy as np


def write(path, arrays):
  """Writes float32 arrays in the format of safetensors."""
  header, parts, end = {}, [], 0
  for name, array in arrays.items():
    parts.append(np.ascontiguousarray(array, np.float32).tobytes())
    header[name] = {"dtype": "F32", "shape": list(array.shape),
                    "data_offsets": [end, end + len(parts[-1])]}
    end += len(parts[-1])
  text = json.dumps(header).encode()
  path.write_bytes(len(text).to_bytes(8, "little") + text + b"".join(parts))
