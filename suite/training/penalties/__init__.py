# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""What keeps a network near what it learned before: penalties, and projections of gradients."""
