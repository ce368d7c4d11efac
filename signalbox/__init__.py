"""The project package: wiring only. Settings, addresses, the Celery app, embedded services."""

from __future__ import annotations
