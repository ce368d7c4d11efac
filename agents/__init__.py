"""Example graphs that a user copies, and fakepay, the example provider."""

from __future__ import annotations
