"""An agent's module that cannot be imported."""

from __future__ import annotations

raise ValueError("broken")
