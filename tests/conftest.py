"""What every test may use. PostgreSQL is real, and embedded unless DATABASE_URL is set."""

from __future__ import annotations

import os
from collections.abc import Iterator

import hypothesis
import pytest
from django.conf import settings
from django.db.backends.postgresql.creation import DatabaseCreation

from signalbox.embedded import postgres, services
from tests.support import chromium, flush, template

hypothesis.settings.register_profile("patient", deadline=None)
hypothesis.settings.load_profile("patient")
"""How long one example takes says something about the machine only."""

FAST = "fsync=off full_page_writes=off"
"""Of PostgreSQL: what tests write need not outlive the machine, only the processes."""
PAGES_NOT_RUN = "no Chromium on this machine: install the package chromium, or run `make test`"


def pytest_sessionstart() -> None:
    with pytest.MonkeyPatch.context() as patch:
        if postgres.CHOSEN not in os.environ:
            patch.setenv(postgres.CHOSEN, FAST)
        services.use(settings.STATE_DIR)
    DatabaseCreation._destroy_test_db = _drop  # type: ignore[attr-defined]  # the stubs lack it


def _drop(self: DatabaseCreation, name: str, verbosity: int) -> None:
    """Also if a thread of a server, or a heart, still holds a connection."""
    del verbosity
    self.connection.close_pool()
    with self._nodb_cursor() as cursor:  # type: ignore[attr-defined]  # the stubs lack it
        cursor.execute(f"DROP DATABASE {self.connection.ops.quote_name(name)} WITH (FORCE)")


@pytest.fixture(scope="session")
def django_db_modify_db_settings(django_db_modify_db_settings: None, django_db_blocker) -> None:
    with django_db_blocker.unblock():
        template.use()


@pytest.fixture(scope="session")
def django_db_setup(django_db_setup: None, django_db_blocker) -> None:
    with django_db_blocker.unblock():
        template.keep()


@pytest.fixture(scope="session", autouse=True)
def database_is_emptied_quickly() -> Iterator[None]:
    with flush.quick():
        yield


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    # In CI they run and fail: a page that nobody tested must not pass for tested.
    if chromium.find() is None and os.environ.get("CI") != "true":
        for item in items:
            if item.get_closest_marker("page"):
                item.add_marker(pytest.mark.skip(reason=PAGES_NOT_RUN))


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    skipped = terminalreporter.stats.get("skipped", [])
    pages = sum(PAGES_NOT_RUN in str(report.longrepr) for report in skipped)
    if pages:
        terminalreporter.write_line(
            f"{pages} page tests were NOT run: {PAGES_NOT_RUN}.", yellow=True, bold=True
        )
