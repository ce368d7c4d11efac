"""What every test may use. PostgreSQL is real, and embedded unless DATABASE_URL is set."""

from __future__ import annotations

from django.conf import settings

from signalbox.embedded import services


def pytest_sessionstart() -> None:
    services.use(settings.STATE_DIR)
