"""Saved views: the filters of a list under a name, to come back to.

1. A view belongs to who saved it. Who may share views shows one to everybody; only its owner
   renames it or takes it away.
2. It holds an address of this site and nothing else: what it shows is decided when it is opened.
3. Its address holds what its owner typed. Others are offered it only where nothing of that may be
   hidden from them, which the list decides.
"""

from __future__ import annotations
