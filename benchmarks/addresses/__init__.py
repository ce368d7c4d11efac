"""What `benchmarks.pages` asks for: every list, run and detail page of a seeded database.

Each page is asked for by somebody whose work it is, and lists also by those who see only a part.
"""

from __future__ import annotations

from benchmarks.addresses import approvals, audit, ledger, readers, runs, whole
from benchmarks.addresses.readers import Page, Readers

__all__ = ["Page", "Readers", "of"]


def of(who: Readers) -> list[Page]:
    """All pages, in the order in which they are asked for."""
    parts = (whole, runs, ledger, approvals, audit)
    pages = [page for part in parts for page in part.pages(who)]
    readers.check(pages)
    return pages
