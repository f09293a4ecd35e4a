# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Runs handed in to a leaderboard: bundles, their verification, and the site made of them."""
