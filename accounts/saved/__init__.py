"""Saved views: the filters of a list under a name, to come back to.

1. A view belongs to who saved it. Who may share views shows one to everybody; only its owner
   renames it or takes it away.
2. It holds an address of this site and nothing else: what it shows is decided when it is opened.
"""

from __future__ import annotations
