"""Proving the audit log, or naming what is wrong with it.

1. Links: each entry has the digest of what it says; each seal the hash of its entry and of the seal
   before it; places count 1, 2, 3, … Entries not yet sealed are held against their digests only.
2. Signatures: whoever owns the database can make the whole chain anew, but cannot sign. Each entry
   that was altered, removed, put in or moved is named. Places that are not signed are named too.
3. Anchors: whoever owns the database can cut off its newest part with its signatures, or remove all
   signatures. The heads that were made known elsewhere tell from where on the chain differs.
"""

from __future__ import annotations

from audit.verify.proof import verify
from audit.verify.report import MOST_PROBLEMS, Head, Problem, Report

__all__ = ["MOST_PROBLEMS", "Head", "Problem", "Report", "verify"]
