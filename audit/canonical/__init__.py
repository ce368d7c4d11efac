"""One text for one value: canonical JSON, digests of it, and a form that can be stored and read.

1. `dumps` and `digest` are strict: RFC 8785 or `NotCanonical`, which says where and what to do.
2. `visible` never refuses: whatever a graph hands over becomes JSON that PostgreSQL's jsonb stores
   and gives back unchanged, so that the digest of what was written is the digest of what is read.
3. `fingerprint` tells any two values apart that a reader could take for different ones.
"""

from __future__ import annotations

from audit.canonical.fingerprints import fingerprint
from audit.canonical.parts import text
from audit.canonical.showing import visible
from audit.canonical.strict import DEPTH, SAFE_INTEGER, Json, digest, dumps, matches
from audit.errors import NotCanonical

__all__ = [
    "DEPTH",
    "SAFE_INTEGER",
    "Json",
    "NotCanonical",
    "digest",
    "dumps",
    "fingerprint",
    "matches",
    "text",
    "visible",
]
