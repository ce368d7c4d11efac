"""Answers to polls: the same as long as nothing but the time of day has changed."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.urls import reverse
from django.utils import timezone

from runs.models import Run
from tests.support import standing as make
from tests.support.people import person

pytestmark = pytest.mark.django_db


def test_a_poll_is_unchanged_although_a_minute_has_passed(client, monkeypatch) -> None:
    client.force_login(person("Ada"))
    make.run("Refund order 1", status="cancelled", created_at=make.ago(hours=3))
    polled = {"headers": {"HX-Request": "true"}}
    first = client.get(reverse("runs:list"), **polled)
    assert "3 h ago" in first.text
    later = timezone.now() + timedelta(hours=2)
    monkeypatch.setattr("django.utils.timezone.now", lambda: later)
    seen = {"headers": polled["headers"] | {"If-None-Match": first.headers["ETag"]}}
    assert client.get(reverse("runs:list"), **seen).status_code == 304
    Run.objects.update(title="Refund order 2")
    changed = client.get(reverse("runs:list"), **seen)
    assert changed.status_code == 200
    assert "5 h ago" in changed.text
