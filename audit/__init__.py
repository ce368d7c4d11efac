"""Who did what, when, to what and why, in a log that only grows."""

from __future__ import annotations
