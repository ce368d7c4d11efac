"""Addresses of this app, as whole paths."""

from __future__ import annotations

from django.urls import path

from audit import export_pages, views

app_name = "audit"
urlpatterns = [
    path("audit/", views.entries, name="list"),
    path("audit/export/", export_pages.export, name="export"),
    path("audit/keys/", export_pages.keys, name="keys"),
]
