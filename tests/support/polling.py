"""Open pages that ask again, for tests of what they are told."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from django.core.cache import caches
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from runs.models import Run
from signalbox import stamps


@contextmanager
def remembered(settings, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Polls are remembered as in production, and stamps are read anew for each."""
    backend = "django.core.cache.backends.locmem.LocMemCache"
    known = {
        name: settings.CACHES[name] | {"BACKEND": backend, "LOCATION": f"test-{name}"}
        for name in ("polls", "told", "inquiries")
    }
    settings.CACHES = settings.CACHES | known
    monkeypatch.setattr(stamps, "FRESH", 0)
    forget(*known)
    yield
    forget(*known)


def forget(*names: str) -> None:
    for name in names:
        caches[name].clear()


class Region:
    """A live region in a browser, which sends the ETag of the answer that it has."""

    def __init__(self, client: Client, url: str) -> None:
        self.client, self.url, self.etag = client, url, ""
        self.asked = 0
        self.questions = ""

    def poll(self, **headers: str) -> int:
        headers = {"HX-Request": "true", "If-None-Match": self.etag} | headers
        with CaptureQueriesContext(connection) as seen:
            self.answer = self.client.get(self.url, headers=headers)
        self.asked = len(seen)
        self.questions = "\n".join(each["sql"] for each in seen.captured_queries)
        self.etag = self.answer.headers.get("ETag", self.etag)
        return self.answer.status_code

    def whole(self) -> str:
        """What it shows now, though it has not changed."""
        return self.client.get(self.url, headers={"HX-Request": "true"}).text

    def settle(self) -> Region:
        """Ask until the answer is remembered."""
        flush()
        self.poll()
        self.poll()
        return self


def flush() -> None:
    """PostgreSQL counts at once what this connection has written."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_stat_force_next_flush()")


def change(run: Run, title: str = "As it is") -> None:
    """Give a run another title, for all to see."""
    Run.objects.filter(pk=run.pk).update(title=title)
    flush()


def forget_what_is_shared() -> None:
    """As if its time was over."""
    forget("told", "inquiries")
