"""PostgreSQL and a broker that come with the Python packages, for machines that have neither."""

from __future__ import annotations
