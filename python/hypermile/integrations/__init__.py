# SPDX-License-Identifier: Apache-2.0
"""Callbacks for trainers; each module imports its framework, so import the one you use."""
