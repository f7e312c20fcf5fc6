# SPDX-License-Identifier: Apache-2.0
"""Callbacks for trainers. Each module imports its framework, so import only the one that you use."""
