# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""The one error of this package: data that cannot be used, with the next step in the message."""


class DataError(ValueError):
  """Data is missing, damaged or not what its row says; the message names the file and the cure."""
