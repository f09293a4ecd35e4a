# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""The error of this package, for data that cannot be used."""


class DataError(ValueError):
  """Data is missing, damaged or does not match its row; the message says what to do."""
