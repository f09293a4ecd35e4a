# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""From dated images to a reviewed benchmark in time buckets."""
