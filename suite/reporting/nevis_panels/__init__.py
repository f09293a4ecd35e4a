# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""The analyses of NEVIS'22, each a panel made from records alone."""
