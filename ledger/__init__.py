"""What was done to the outside world, and whether it may be done again."""

from __future__ import annotations

from ledger.moving import aprogress, progress

__all__ = ["aprogress", "progress"]
