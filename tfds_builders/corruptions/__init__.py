# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Image corruptions in the style of CIFAR-10-C and ImageNet-C: 19 kinds x 5 severities."""
