"""The year first, which nobody reads as another day."""

from __future__ import annotations

SHORT_DATE_FORMAT = "Y-m-d"
SHORT_DATETIME_FORMAT = "Y-m-d H:i"
