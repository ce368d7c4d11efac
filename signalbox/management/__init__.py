"""Commands of the project package."""

from __future__ import annotations
