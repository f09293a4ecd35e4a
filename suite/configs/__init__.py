# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Gin files: found, checked and parsed; the only package that imports gin."""
