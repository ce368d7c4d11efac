"""A run, who drives it, and what happened."""

from __future__ import annotations
