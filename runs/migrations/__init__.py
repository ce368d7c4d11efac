"""Migrations of this app."""

from __future__ import annotations
