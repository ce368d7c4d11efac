"""What people must allow: policies, requests, decisions, delivery."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from approvals.asking import Answer, ask, asks

__all__ = ["Answer", "ask", "asks"]


def __getattr__(name: str) -> object:
    """What agents use is imported when they do: it brings LangGraph, which pages do not need."""
    if name in __all__:
        return getattr(import_module("approvals.asking"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
