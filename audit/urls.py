"""Addresses of this app, as whole paths."""

from __future__ import annotations

app_name = "audit"
urlpatterns: list[object] = []
