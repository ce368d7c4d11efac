"""Forgers who own the database: triggers off, digests and chain made anew, signatures removed.

Each attack is tried with the chain left broken and with the chain made anew. Either way exactly the
entries that were touched are named, and no others.
"""

from __future__ import annotations

import pytest
from django.db import connection

from audit import seal, signatures, signing, verify
from audit.errors import NoSigningKey
from audit.models import Seal, SealSignature

pytestmark = pytest.mark.django_db
DROP_FOREIGN_KEY = (
    "ALTER TABLE audit_seal DROP CONSTRAINT audit_seal_entry_id_598168e7_fk_audit_entry_id"
)
MOVE = "UPDATE audit_seal SET seq = %s WHERE seq = %s"


@pytest.fixture
def ids(record):
    """Ten entries, sealed and signed in three passes."""
    made = [record(target_id=str(n), data={"n": n}).id for n in range(4)]
    seal.seal()
    made += [record(target_id=str(n), data={"n": n}).id for n in range(4, 7)]
    seal.seal()
    made += [record(target_id=str(n), data={"n": n}).id for n in range(7, 10)]
    seal.seal()
    return made


@pytest.fixture(params=["chain left", "chain made anew"])
def cover(request, rechain):
    """What the forger does about the chain."""
    return rechain if request.param == "chain made anew" else lambda: None


def named(report: verify.Report | None = None) -> set[tuple[str, int | None]]:
    problems = (report or verify.verify()).problems
    return {(one.kind, one.entry_id) for one in problems}


def take_out(tamper, ids, *places: int) -> None:
    """Entries and their seals, and count the places after them anew."""
    tamper(DROP_FOREIGN_KEY)
    for place in places:
        tamper("DELETE FROM audit_seal WHERE seq = %s", place)
        tamper("DELETE FROM audit_entry WHERE id = %s", ids[place - 1])
    for to, seq in enumerate(Seal.objects.order_by("seq").values_list("seq", flat=True), start=1):
        if to != seq:
            tamper(MOVE, to, seq)


def put_in(tamper, forged: int, place: int) -> None:
    """A seal for `forged` at this place, and those from there on one place later."""
    for seq in Seal.objects.filter(seq__gte=place).order_by("-seq").values_list("seq", flat=True):
        tamper(MOVE, seq + 1, seq)
    tamper(
        "INSERT INTO audit_seal (seq, entry_id, hash, sealed_at)"
        " SELECT %s, %s, hash, sealed_at FROM audit_seal WHERE seq = %s",
        place,
        forged,
        place - 1,
    )


def test_altered_entries_are_named_and_no_others(ids, tamper, cover):
    for n in (1, 5, 6):
        tamper("UPDATE audit_entry SET reason = 'because' WHERE id = %s", ids[n])
    cover()
    assert named() == {("altered", ids[1]), ("altered", ids[5]), ("altered", ids[6])}


def test_times_far_ahead_are_named_and_make_no_other_entry_late(ids, tamper, cover):
    for n, at in ((2, "9999-12-31 23:59:59.9+00"), (3, "9999-12-31 23:59:59+00")):
        tamper("UPDATE audit_entry SET at = %s WHERE id = %s", at, ids[n])
    cover()
    assert {entry for _, entry in named()} == {ids[2], ids[3]}


@pytest.mark.parametrize("at", ["infinity", "-infinity", "4713-01-01 BC", "294276-12-31"])
def test_times_that_python_does_not_know_are_named(ids, tamper, at):
    tamper("UPDATE audit_entry SET at = %s WHERE id = %s", at, ids[2])
    assert {entry for _, entry in named()} == {ids[2]}
    tamper("UPDATE audit_seal SET sealed_at = %s WHERE seq = 6", at)
    assert not verify.verify().ok


def test_removed_entries_are_named_and_no_others(ids, tamper, cover):
    take_out(tamper, ids, 2, 5, 6)
    cover()
    assert named() == {("missing", ids[1]), ("missing", ids[4]), ("missing", ids[5])}


def test_the_first_and_the_last_entry_removed_are_named(ids, tamper, cover):
    take_out(tamper, ids, 1, 10)
    cover()
    assert named() == {("missing", ids[0]), ("missing", ids[9])}


def test_an_entry_put_in_is_named_and_no_other(ids, tamper, cover, record):
    forged = record(target_id="forged").id
    put_in(tamper, forged, 3)
    cover()
    assert named() == {("inserted", forged)}


def test_exchanged_entries_are_named_and_no_others(ids, tamper, cover):
    for old, new in ((2, -1), (6, 2), (-1, 6)):
        tamper(MOVE, new, old)
    cover()
    assert named() == {("reordered", ids[1]), ("reordered", ids[5])}


def test_all_of_it_at_once_is_named(ids, tamper, cover, record):
    forged = record(target_id="forged").id
    tamper("UPDATE audit_entry SET allowed = false WHERE id = %s", ids[9])
    take_out(tamper, ids, 2)
    put_in(tamper, forged, 5)
    for old, new in ((7, -1), (8, 7), (-1, 8)):
        tamper(MOVE, new, old)
    cover()
    assert named() == {
        ("altered", ids[9]),
        ("missing", ids[1]),
        ("inserted", forged),
        ("reordered", ids[6]),
        ("reordered", ids[7]),
    }


def test_a_tail_cut_off_with_its_entries_is_named(ids, tamper):
    tamper("DELETE FROM audit_seal WHERE seq > 8")
    tamper("DELETE FROM audit_entry WHERE id > %s", ids[7])
    assert named() == {("missing", ids[8]), ("missing", ids[9])}


def test_entries_that_the_sealer_then_adds_do_not_hide_a_forgery(ids, tamper, rechain, record):
    tamper("UPDATE audit_entry SET reason = 'because' WHERE id = %s", ids[3])
    rechain()
    record()
    seal.seal()
    assert named() == {("altered", ids[3])}


def test_sealing_goes_on_after_seals_were_removed_and_both_signatures_tell(ids, tamper):
    tamper("DELETE FROM audit_seal WHERE seq > 4")
    tamper("UPDATE audit_entry SET reason = 'because' WHERE id = %s", ids[5])
    assert seal.seal() == 6
    assert {("altered", ids[5]), ("signature", None)} <= named()


def test_removed_signatures_leave_a_range_that_is_named(ids, tamper, rechain):
    tamper("UPDATE audit_entry SET reason = 'because' WHERE id = %s", ids[5])
    tamper("DELETE FROM audit_signature WHERE first = 5")
    rechain()
    (problem,) = verify.verify().problems
    assert (problem.kind, problem.seq) == ("unsigned", 5)
    assert problem.what.startswith("Places 5 to 7 are not signed")


@pytest.mark.parametrize(
    "change",
    [
        "leaves = set_byte(leaves, 20, 0)",
        "leaves = leaves || leaves",
        "leaves = ''",
        "last = last - 1",
        "signature = 'AAAA'",
        "signature = 'not base64'",
    ],
)
def test_an_altered_signature_counts_for_nothing(ids, tamper, change):
    tamper(f"UPDATE audit_signature SET {change} WHERE first = 5")  # noqa: S608
    assert named() == {("signature", None), ("unsigned", None)}


def test_a_signature_by_another_key_is_named_until_the_key_is_known(ids, settings):
    ours = signing.own()
    settings.AUDIT_SIGNING_KEY, _ = signing.make()
    report = verify.verify()
    assert named(report) == {("key", None), ("unsigned", None)}
    assert any(ours.id in problem.what for problem in report.problems)
    settings.AUDIT_PUBLIC_KEYS = [ours.text]
    assert verify.verify().ok


def test_a_forger_who_signs_with_a_key_of_his_own_is_found(ids, tamper, rechain, settings):
    honest = settings.AUDIT_SIGNING_KEY
    tamper("DELETE FROM audit_seal")
    tamper("DELETE FROM audit_signature")
    tamper("UPDATE audit_entry SET reason = 'because' WHERE id = %s", ids[5])
    settings.AUDIT_SIGNING_KEY, _ = signing.make()
    seal.seal()
    settings.AUDIT_SIGNING_KEY = honest
    assert {("key", None), ("unsigned", None)} <= named()


def test_without_a_key_sealing_goes_on_and_the_proof_says_that_it_is_not_signed(record, settings):
    settings.AUDIT_SIGNING_KEY = ""
    record()
    assert seal.seal() == 1
    assert not SealSignature.objects.exists()
    with pytest.raises(NoSigningKey):
        signing.own()
    report = verify.verify()
    assert (report.ok, report.signed) == (False, 0)
    assert named(report) == {("unsigned", None)}


def test_a_proof_without_a_key_does_not_pass_for_one(ids, settings):
    settings.AUDIT_SIGNING_KEY = ""
    assert named() == {("key", None), ("unsigned", None)}


def test_what_is_sealed_while_the_proof_runs_is_not_taken_for_a_forgery(ids, record, monkeypatch):
    chain = verify.reading.chain

    def slow(upto):
        record()
        seal.seal()
        yield from chain(upto)

    monkeypatch.setattr(verify.reading, "chain", slow)
    report = verify.verify()
    assert report.problems == ()
    assert report.checked == 10


def test_a_long_log_with_a_hole_at_its_start_is_named_by_one_problem(record, tamper, rechain):
    first = record()
    with connection.cursor() as cursor:
        cursor.execute(
            "INSERT INTO audit_entry (verb, actor_kind, actor_id, actor_label, entry, target_kind,"
            " target_id, run_id, allowed, reason, data, digest)"
            " SELECT verb, actor_kind, actor_id, actor_label, entry, target_kind,"
            " target_id, run_id, allowed, reason, data, digest"
            " FROM audit_entry, generate_series(1, 3000)"
        )
    while seal.seal(700):
        pass
    tamper("DELETE FROM audit_seal WHERE seq = 1")
    tamper("DELETE FROM audit_entry WHERE id = %s", first.id)
    tamper("UPDATE audit_seal SET seq = -seq")
    tamper("UPDATE audit_seal SET seq = -seq - 1")
    rechained = seal.GENESIS
    hashes = []
    for row in Seal.objects.order_by("seq").select_related("entry"):
        rechained = seal.link(
            rechained,
            row.seq,
            row.sealed_at,
            signatures.Digested(row.entry_id, row.entry.digest, row.entry.at),
        )
        hashes.append(rechained)
    tamper(
        "UPDATE audit_seal SET hash = made.hash FROM unnest(%s::text[]) WITH ORDINALITY"
        " AS made (hash, seq) WHERE made.seq = audit_seal.seq",
        hashes,
    )
    report = verify.verify()
    assert [(one.kind, one.entry_id) for one in report.problems] == [("missing", first.id)]
    assert report.checked == 3000
