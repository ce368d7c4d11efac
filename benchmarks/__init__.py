"""Measured claims about speed, as ratios in one run."""

from __future__ import annotations
