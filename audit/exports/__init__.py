"""Handing records out so that a stranger can tell years later that they are unchanged.

1. An export is one .zip: the rows, a manifest that says what they are and what their SHA-256 is,
   and the signature of the manifest's bytes. `verify_export.py` in this folder checks it and needs
   nothing of Signalbox but the public key.
2. Rows are written as they come: memory does not grow with their number.
3. Every export is an entry of the audit log, and so is every one that was refused. What was not
   recorded is not handed out.
4. Nothing in a file deceives its reader: characters that draw nothing are written as escapes, and
   no cell of a CSV file starts a formula.
"""

from __future__ import annotations

from audit.exports.formats import CSV, FORMATS, JSON_LINES
from audit.exports.packing import PERMISSION, Export, package

__all__ = ["CSV", "FORMATS", "JSON_LINES", "PERMISSION", "Export", "package"]
