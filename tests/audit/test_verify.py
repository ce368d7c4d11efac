"""Proving the log, and naming what is wrong with it."""

from __future__ import annotations

import time
from datetime import timedelta

import pytest
from django.db import connection, transaction

from audit import canonical, seal, verify
from audit.models import Entry, Seal
from audit.verify import Head

DROP_FOREIGN_KEY = (
    "ALTER TABLE audit_seal DROP CONSTRAINT audit_seal_entry_id_598168e7_fk_audit_entry_id"
)


@pytest.fixture
def ids(record):
    """Six sealed entries."""
    made = [record(target_id=str(n), data={"n": n}).id for n in range(6)]
    seal.seal()
    return made


def found(report: verify.Report) -> list[tuple[str, int | None, int | None]]:
    return [(one.kind, one.entry_id, one.seq) for one in report.problems]


@pytest.mark.django_db
def test_an_empty_log_is_intact():
    assert verify.verify() == verify.Report(
        checked=0, signed=0, unsealed=0, anchors=0, problems=(), head=None
    )


@pytest.mark.django_db
def test_an_untouched_log_is_intact_and_tells_its_head_and_what_waits(ids, record):
    record()
    report = verify.verify()
    head = Head(seq=6, hash=Seal.objects.get(seq=6).hash)
    assert report == verify.Report(
        checked=6, signed=6, unsealed=1, anchors=0, problems=(), head=head
    )
    assert report.ok


@pytest.mark.django_db
@pytest.mark.parametrize(
    "change",
    [
        "verb = 'run.failed'",
        "actor_kind = 'system'",
        "actor_id = '8'",
        "actor_label = 'Ben'",
        "entry = 'api'",
        "target_kind = 'effect'",
        "target_id = 'x'",
        "run_id = gen_random_uuid()",
        "allowed = false",
        "reason = 'because'",
        """data = '{"n": 7}'""",
        "data = '1e400'",
        "digest = repeat('0', 64)",
    ],
)
def test_an_altered_entry_is_named(ids, tamper, change):
    tamper(f"UPDATE audit_entry SET {change} WHERE id = %s", ids[2])  # noqa: S608
    report = verify.verify()
    assert found(report)[0] == ("altered", ids[2], 3)
    assert f"Entry {ids[2]} " in report.problems[0].what
    assert not report.ok


@pytest.mark.django_db
def test_an_altered_entry_with_a_new_digest_is_named(ids, tamper):
    entry = Entry.objects.get(id=ids[2])
    entry.reason = "because"
    digest = canonical.digest(entry.content)
    tamper("UPDATE audit_entry SET reason='because', digest=%s WHERE id=%s", digest, ids[2])
    report = verify.verify()
    assert found(report) == [("altered", ids[2], 3)]
    assert f"Entry {ids[2]} " in report.problems[0].what


@pytest.mark.django_db
def test_another_time_is_named(ids, tamper):
    tamper("UPDATE audit_entry SET at = at + interval '1 microsecond' WHERE id = %s", ids[2])
    assert found(verify.verify()) == [("altered", ids[2], 3)]


@pytest.mark.django_db
def test_another_time_of_sealing_is_named(ids, tamper):
    tamper("UPDATE audit_seal SET sealed_at = sealed_at - interval '1 day' WHERE seq = 3")
    assert found(verify.verify()) == [("altered", ids[2], 3)]


@pytest.mark.django_db
def test_another_hash_breaks_its_own_place_and_the_next(ids, tamper):
    tamper("UPDATE audit_seal SET hash = repeat('0', 64) WHERE seq = 3")
    assert found(verify.verify()) == [("broken", ids[2], 3), ("broken", ids[3], 4)]


@pytest.mark.django_db
def test_a_removed_entry_is_named_by_its_seal(ids, tamper):
    tamper(DROP_FOREIGN_KEY)
    tamper("DELETE FROM audit_entry WHERE id = %s", ids[2])
    report = verify.verify()
    assert found(report) == [("missing", ids[2], 3)]
    assert report.problems[0].what == f"Entry {ids[2]}, sealed at place 3, is gone."


@pytest.mark.django_db
def test_a_removed_entry_is_missed_although_its_seal_went_too(ids, tamper):
    tamper("DELETE FROM audit_seal WHERE entry_id = %s", ids[2])
    tamper("DELETE FROM audit_entry WHERE id = %s", ids[2])
    report = verify.verify()
    assert found(report) == [("missing", ids[2], 3), ("gap", None, 3)]
    assert report.checked == 5


@pytest.mark.django_db
def test_a_gap_closed_by_counting_anew_names_the_one_that_is_gone(ids, tamper):
    tamper("DELETE FROM audit_seal WHERE entry_id = %s", ids[2])
    for seq in (4, 5, 6):
        tamper("UPDATE audit_seal SET seq = seq - 1 WHERE seq = %s", seq)
    report = verify.verify()
    assert found(report) == [("missing", ids[2], 3)]
    assert "is in the chain no longer" in report.problems[0].what


@pytest.mark.django_db
def test_removed_first_seals_are_named(ids, tamper):
    tamper("DELETE FROM audit_seal WHERE seq <= 2")
    tamper("DELETE FROM audit_entry WHERE id <= %s", ids[1])
    report = verify.verify()
    assert found(report) == [("missing", ids[0], 1), ("gap", None, 1), ("missing", ids[1], 2)]
    assert report.problems[1].what == "Seals 1 to 2 are gone."


@pytest.mark.django_db
def test_seals_that_exchanged_their_entries_are_named(ids, tamper):
    one, other = ids[1], ids[4]
    tamper(DROP_FOREIGN_KEY)
    for old, new in ((one, -1), (other, one), (-1, other)):
        tamper("UPDATE audit_seal SET entry_id = %s WHERE entry_id = %s", new, old)
    report = verify.verify()
    assert found(report) == [("reordered", other, 2), ("reordered", one, 5)]
    assert report.problems[0].what == f"Entry {other} was sealed at place 5 and is at 2 now."


@pytest.mark.django_db
def test_entries_that_exchanged_their_ids_are_named(ids, tamper):
    one, other = ids[1], ids[4]
    tamper(DROP_FOREIGN_KEY)
    for old, new in ((one, -1), (other, one), (-1, other)):
        tamper("UPDATE audit_entry SET id = %s WHERE id = %s", new, old)
    assert found(verify.verify()) == [("altered", one, 2), ("altered", other, 5)]


@pytest.mark.django_db
def test_exchanged_seals_are_named_at_both_places(ids, tamper):
    for old, new in ((2, -1), (5, 2), (-1, 5)):
        tamper("UPDATE audit_seal SET seq = %s WHERE seq = %s", new, old)
    report = verify.verify()
    assert {("reordered", ids[4], 2), ("reordered", ids[1], 5)} <= set(found(report))


@pytest.mark.django_db
def test_a_seal_put_in_between_is_named(ids, tamper, record):
    forged = record(target_id="forged").id
    for seq in (6, 5, 4):
        tamper("UPDATE audit_seal SET seq = seq + 1 WHERE seq = %s", seq)
    with connection.cursor() as cursor:
        cursor.execute(
            "INSERT INTO audit_seal (seq, entry_id, hash, sealed_at)"
            " SELECT 4, %s, hash, sealed_at FROM audit_seal WHERE seq = 3",
            [forged],
        )
    assert found(verify.verify()) == [("inserted", forged, 4)]


@pytest.mark.django_db
@pytest.mark.parametrize("sealed", [True, False])
def test_an_entry_put_in_with_an_old_time_is_named(ids, record, sealed):
    forged = Entry.objects.get(id=ids[0])
    forged.id, forged.at = None, forged.at - timedelta(hours=3)
    forged.save(force_insert=True)
    seals = seal.seal() if sealed else 0
    report = verify.verify()
    assert found(report) == [("late", forged.id, 6 + seals if sealed else None)]


@pytest.mark.django_db
def test_an_entry_that_was_only_slow_to_commit_is_no_problem(ids):
    slow = Entry.objects.get(id=ids[0])
    slow.id, slow.at = None, slow.at - timedelta(hours=1)
    slow.save(force_insert=True)
    seal.seal()
    assert verify.verify().ok


@pytest.mark.django_db
def test_an_entry_altered_before_it_was_sealed_is_named(record, tamper):
    entry = record()
    tamper("UPDATE audit_entry SET reason = 'because' WHERE id = %s", entry.id)
    assert found(verify.verify()) == [("altered", entry.id, None)]
    seal.seal()
    assert found(verify.verify()) == [("altered", entry.id, 1)]


@pytest.mark.django_db
def test_a_chain_cut_at_its_end_does_not_reach_the_head_noted(ids, tamper):
    noted = verify.verify().head
    tamper("DELETE FROM audit_seal WHERE seq > 4")
    tamper("DELETE FROM audit_entry WHERE id > %s", ids[3])
    tamper("DELETE FROM audit_signature")
    assert ("head", None, 6) in found(verify.verify(noted))


@pytest.mark.django_db
def test_a_chain_made_anew_does_not_go_through_the_head_noted(ids, tamper, rechain):
    noted = verify.verify().head
    tamper("UPDATE audit_entry SET reason='because' WHERE id=%s", ids[0])
    rechain()
    assert found(verify.verify(noted)) == [("altered", ids[0], 1), ("head", None, 6)]


@pytest.mark.django_db
def test_a_log_that_grew_still_goes_through_the_head_noted(ids, record):
    noted = verify.verify().head
    record()
    seal.seal()
    assert verify.verify(noted).ok


@pytest.mark.django_db
def test_a_log_in_ruins_is_not_listed_to_the_end(ids, tamper, monkeypatch):
    monkeypatch.setattr(verify.report, "MOST_PROBLEMS", 3)
    tamper("UPDATE audit_entry SET reason = 'because'")
    report = verify.verify()
    assert [kind for kind, *_ in found(report)] == ["altered", "altered", "altered", "more"]
    assert report.checked == 3


def copy(entry: Entry, times: int) -> None:
    with connection.cursor() as cursor:
        cursor.execute(
            "INSERT INTO audit_entry (verb, actor_kind, actor_id, actor_label, entry, target_kind,"
            " target_id, run_id, allowed, reason, data, digest)"
            " SELECT verb, actor_kind, actor_id, actor_label, entry, target_kind,"
            " target_id, run_id, allowed, reason, data, digest"
            " FROM audit_entry, generate_series(1, %s) WHERE id = %s",
            [times, entry.id],
        )


@pytest.mark.django_db
def test_a_hundred_thousand_entries_would_be_verified_in_ten_seconds(record):
    copy(record(data={"agent": "refund_desk", "input": {"order": "A-1", "amount": 1}}), 19_999)
    seal.seal(limit=20_000)
    began = time.process_time()
    report = verify.verify()
    assert (report.ok, report.checked) == (True, 20_000)
    assert time.process_time() - began < 2


@pytest.mark.django_db
def test_work_stays_linear_although_the_planner_takes_the_tables_for_empty(record):
    entry = record()
    undo = transaction.savepoint()
    copy(entry, 8_000)
    while seal.seal(limit=4_000):
        pass
    transaction.savepoint_rollback(undo)
    with connection.cursor() as cursor:
        cursor.execute("ANALYZE audit_entry, audit_seal")  # many pages, one row
        cursor.execute("SET LOCAL statement_timeout = '1s'")
    copy(entry, 8_000)
    while seal.seal(limit=4_000):
        pass
    assert verify.verify().checked == 8_001
