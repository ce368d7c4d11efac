"""Light requests: what has not changed is not read again, and whatever has changed is."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from approvals import light
from approvals.models import Request
from approvals.retention import Payloads
from runs.models import Run
from tests.support import scenes
from tests.support.processes import until

pytestmark = pytest.mark.django_db
ALL = slice(None)


@pytest.fixture(autouse=True)
def _nothing_is_left() -> Iterator[None]:
    """Nor a timer that would end what the next test has read."""
    yield
    light.forget()


def _read() -> list[Request]:
    return light.read(Request.objects.order_by("created_at"), ALL)


def test_what_stays_as_it_is_is_read_once(django_assert_num_queries) -> None:
    scenes.waiting()
    with django_assert_num_queries(2):
        first = _read()
    with django_assert_num_queries(1):
        again = _read()
    assert [id(each) for each in again] == [id(each) for each in first]
    scenes.waiting()
    with django_assert_num_queries(2):
        assert _read()[0] is first[0]


def test_each_of_two_changes_in_one_transaction_is_seen() -> None:
    scenes.waiting()
    for title in ("once", "twice"):
        Request.objects.update(title=title)
        assert [each.title for each in _read()] == [title]


def test_a_change_of_the_run_is_seen() -> None:
    run = scenes.waiting()
    (before,) = _read()
    Run.objects.filter(pk=run.pk).update(agent="another")
    (after,) = _read()
    assert (before.run.agent, after.run.agent) == (run.agent, "another")


def test_what_nobody_asks_for_any_more_is_not_found() -> None:
    scenes.waiting()
    assert _read()
    Request.objects.all()._raw_delete(Request.objects.db)
    assert _read() == []


def test_nothing_is_kept_for_long_although_nobody_asks_again(
    monkeypatch, django_assert_num_queries
) -> None:
    light.forget()
    monkeypatch.setattr(light, "KEPT_FOR", 0.1)
    scenes.waiting()
    assert _read()
    until(lambda: not light._kept)
    with django_assert_num_queries(2):
        _read()


def test_the_end_of_what_is_kept_does_not_move(monkeypatch) -> None:
    light.forget()
    scenes.waiting()
    _read()
    end = light._end
    assert end is not None
    scenes.waiting()
    _read()
    assert light._end is end
    light.forget()
    until(lambda: not end.is_alive())


def test_who_erases_forgets_what_it_has_read(django_capture_on_commit_callbacks) -> None:
    run = scenes.waiting()
    _read()
    with django_capture_on_commit_callbacks(execute=True):
        Payloads().erase(run)
        assert light._kept
    assert not light._kept
