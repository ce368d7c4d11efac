"""Chaining entries."""

from __future__ import annotations

import hashlib
from datetime import UTC, datetime, timedelta, timezone

import pytest
import rfc8785
from django.db import connections, transaction

from audit import seal, signatures, tasks
from audit.models import Entry, Seal


def chain() -> list[tuple[int, int]]:
    return list(Seal.objects.order_by("seq").values_list("seq", "entry_id"))


@pytest.mark.django_db
def test_entries_are_sealed_once_in_order_and_without_gaps(record):
    first = [record().id for _ in range(3)]
    assert seal.seal() == 3
    second = [record().id for _ in range(2)]
    assert seal.seal() == 2
    assert seal.seal() == 0
    assert chain() == list(enumerate(first + second, start=1))


@pytest.mark.django_db
def test_no_more_than_the_limit_is_sealed_at_once(record):
    for _ in range(5):
        record()
    assert [seal.seal(limit=2) for _ in range(4)] == [2, 2, 1, 0]
    assert [seq for seq, _ in chain()] == [1, 2, 3, 4, 5]


@pytest.mark.django_db
def test_each_hash_covers_the_one_before_and_the_entry(record):
    record()
    record()
    seal.seal()
    previous = seal.GENESIS
    for one in Seal.objects.select_related("entry").order_by("seq"):
        covered: dict[str, str | int] = {
            "prev": previous,
            "seq": one.seq,
            "entry": one.entry_id,
            "digest": one.entry.digest,
            "at": one.entry.at.isoformat(timespec="microseconds"),
            "sealed_at": one.sealed_at.isoformat(timespec="microseconds"),
        }
        previous = hashlib.sha256(rfc8785.dumps(covered)).hexdigest()
        assert one.hash == previous


def test_a_time_is_written_the_same_in_any_zone_and_with_or_without_a_fraction():
    here = datetime(2026, 1, 1, 12, tzinfo=timezone(timedelta(hours=2)))
    utc = datetime(2026, 1, 1, 10, tzinfo=UTC)
    one, other = (
        seal.link(seal.GENESIS, 1, at, signatures.Digested(1, "0" * 64, at)) for at in (here, utc)
    )
    assert one == other
    assert signatures.stamp(utc) == "2026-01-01T10:00:00.000000+00:00"


@pytest.mark.django_db
def test_an_entry_far_below_the_highest_sealed_one_waits_for_the_full_pass(record, monkeypatch):
    monkeypatch.setattr(seal, "LOOK_BACK", 3)
    late = record()
    early = Entry.objects.get(id=late.id)
    early.id = late.id + 10  # as if ids had been given out to others meanwhile
    early.save(force_insert=True)
    Seal.objects.create(seq=1, entry=early, hash="0" * 64, sealed_at=early.at)
    assert seal.seal() == 0
    assert seal.seal(full=True) == 1
    assert chain() == [(1, early.id), (2, late.id)]


@pytest.mark.race
@pytest.mark.django_db(transaction=True)
def test_while_one_seals_another_goes_away_at_once(record):
    record()
    other = connections["default"].copy()
    try:
        with transaction.atomic():
            assert seal.seal() == 1
            with other.cursor() as cursor:
                cursor.execute(seal.TAKE_TURN, {"key": seal.TURN})
                assert cursor.fetchone()[0] is False
        with other.cursor() as cursor:
            cursor.execute(seal.TAKE_TURN, {"key": seal.TURN})
            assert cursor.fetchone()[0] is True
    finally:
        other.close()


@pytest.mark.race
@pytest.mark.django_db(transaction=True)
def test_what_has_not_committed_is_sealed_later(record):
    other = connections["default"].copy()
    try:
        with other.cursor() as cursor:
            cursor.execute("BEGIN")
            cursor.execute(
                "INSERT INTO audit_entry (verb, actor_kind, actor_id, actor_label, entry,"
                " target_kind, target_id, allowed, reason, data, digest)"
                " VALUES ('run.started', 'user', '', '', 'page', 'run', '1', true, '', '{}', '0')"
                " RETURNING id"
            )
            (slow,) = cursor.fetchone()
            quick = record().id
            assert slow < quick
            assert seal.seal() == 1
            cursor.execute("COMMIT")
        assert seal.seal() == 1
        assert chain() == [(1, quick), (2, slow)]
    finally:
        other.close()


@pytest.mark.django_db
def test_the_tasks_seal(record):
    record()
    assert tasks.seal() == 1
    record()
    assert tasks.seal_all() == 1
