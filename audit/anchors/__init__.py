"""Anchors: the head of the chain at one time, signed, and kept where the database's owner is not.

1. An anchor says: at this time the chain ended at this place with this hash. It is signed.
2. It goes into a file that only grows, and to whoever else settings name (`AUDIT_ANCHOR_SINKS`);
   the row in the database is for pages. What cannot be written to the file is no anchor.
3. An anchor may vouch for seals that nobody signed, up to its own place: somebody said so by hand.
"""

from __future__ import annotations

from audit.anchors.keeping import kept, read
from audit.anchors.making import make
from audit.anchors.statement import Anchor

__all__ = ["Anchor", "kept", "make", "read"]
