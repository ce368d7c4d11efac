"""Template tags of every page."""

from __future__ import annotations
