"""Notices: telling people what waits for them, and what became of it.

`notify` is called in the transaction in which something happened. It only writes a message for the
outbox; who gets it, when and how is worked out later, from what is true then.
"""

from __future__ import annotations

from approvals.notices.events import Event, notify

__all__ = ["Event", "notify"]
