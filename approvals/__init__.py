"""What people must allow: policies, requests, decisions, delivery."""

from __future__ import annotations
