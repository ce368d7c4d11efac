"""Policies: the rule, its parts and their words, what is in force, and how that is changed."""

from __future__ import annotations
