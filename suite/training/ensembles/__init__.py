# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""The models of a search's trials: one or several architectures, alone or as an ensemble."""
