"""Commands of the audit log."""

from __future__ import annotations
