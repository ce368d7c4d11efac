"""What people must allow: policies, requests, decisions, delivery."""

from __future__ import annotations

from approvals.ask import Answer, ask

__all__ = ["Answer", "ask"]
