"""What was done to the outside world, and whether it may be done again."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ledger.moving import aprogress, progress

__all__ = ["aprogress", "progress"]


def __getattr__(name: str) -> object:
    """What agents use is imported when they do: it brings LangGraph, which pages do not need."""
    if name in __all__:
        return getattr(import_module("ledger.moving"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
