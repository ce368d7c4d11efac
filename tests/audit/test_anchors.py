"""Anchors: what a forger who owns the database cannot reach."""

from __future__ import annotations

import json
import stat
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from accounts.actors import Actor
from audit import anchors, models, seal, signatures, signing, verify
from audit.errors import AnchorNotWritten, AnchorsUnreadable, NoSigningKey
from audit.models import Entry, Seal

pytestmark = pytest.mark.django_db(transaction=True)
COMMAND = Actor.command("test")
TOLD: list[anchors.Anchor] = []


def sink(anchor: anchors.Anchor) -> None:
    TOLD.append(anchor)


def failing_sink(anchor: anchors.Anchor) -> None:
    raise ValueError("no outbox")


@pytest.fixture
def ids(record):
    """Six sealed entries; anchored after the third and after the last."""
    made = [record(target_id=str(n)).id for n in range(3)]
    seal.seal()
    anchor()
    seal.seal()
    made += [record(target_id=str(n)).id for n in range(3, 6)]
    seal.seal()
    anchor()
    return made


def anchor(**more: Any) -> anchors.Anchor:
    return anchors.make(actor=COMMAND, **more)


def named(report: verify.Report | None = None) -> list[tuple[str, int | None]]:
    return [(one.kind, one.seq) for one in (report or verify.verify()).problems]


def forge(tamper, rechain, entry_id: int) -> None:
    """Alter an entry and leave nothing inside the database that could tell."""
    tamper("UPDATE audit_entry SET reason = 'because' WHERE id = %s", entry_id)
    tamper("DELETE FROM audit_signature")
    rechain()


def sign_again() -> None:
    """As if the forger had the key: what anchors are the last thing against."""
    for one in Seal.objects.order_by("seq").select_related("entry"):
        entry = signatures.Digested(one.entry_id, one.entry.digest, one.entry.at)
        signatures.add(one.seq, one.sealed_at, [entry])


def test_an_anchor_is_a_signed_line_in_a_file_a_row_and_an_entry(ids, anchor_file):
    lines = [json.loads(line) for line in anchor_file.read_text().splitlines()]
    assert [line["seq"] for line in lines] == [3, 7]
    assert lines[1]["hash"] == Seal.objects.get(seq=7).hash
    assert stat.S_IMODE(anchor_file.stat().st_mode) == 0o644
    assert [row.seq for row in models.Anchor.objects.order_by("id")] == [3, 7]
    entry = Entry.objects.filter(verb="log.anchored").latest("id")
    assert entry.data == {"seq": 7, "hash": lines[1]["hash"], "accepts": 0}
    report = verify.verify()
    assert (report.ok, report.anchors) == (True, 2)


def test_the_anchor_tells_from_where_on_a_chain_made_and_signed_anew_differs(ids, tamper, rechain):
    forge(tamper, rechain, ids[4])
    sign_again()
    (problem,) = verify.verify().problems
    assert (problem.kind, problem.seq) == ("anchor", 7)
    assert "The chain was changed after place 3 (" in problem.what


def test_without_signatures_the_range_and_the_anchor_are_both_named(ids, tamper, rechain):
    forge(tamper, rechain, ids[4])
    assert named() == [("unsigned", 1), ("anchor", 7)]


def test_a_tail_that_was_cut_off_with_all_traces_is_missed(ids, tamper):
    tamper("DELETE FROM audit_seal WHERE seq > 3")
    tamper("DELETE FROM audit_entry WHERE id > %s", ids[2])
    tamper("DELETE FROM audit_signature WHERE first > 3")
    tamper("DELETE FROM audit_anchor")
    (problem,) = verify.verify().problems
    assert (problem.kind, problem.seq) == ("anchor", 7)
    assert problem.what.startswith("The chain ends at place 3, but went on to place 7 at")


def test_a_file_kept_elsewhere_tells_when_ours_is_gone(ids, tamper, anchor_file, tmp_path, capsys):
    elsewhere = tmp_path / "kept.jsonl"
    anchor_file.rename(elsewhere)
    for table in ("seal", "signature", "anchor", "entry"):
        tamper(f"DELETE FROM audit_{table}")  # noqa: S608
    assert verify.verify().ok, "an empty log: nothing inside can show this"
    with pytest.raises(SystemExit):
        call_command("verify_audit", "--json", "-", "--anchor", str(elsewhere))
    result = json.loads(capsys.readouterr().out)
    assert [problem["kind"] for problem in result["problems"]] == ["anchor"]


def test_a_forged_anchor_is_named_and_counts_for_nothing(ids, anchor_file):
    line = json.loads(anchor_file.read_text().splitlines()[0])
    anchor_file.write_text(json.dumps(line | {"hash": "0" * 64}) + "\n")
    report = verify.verify()
    assert named(report) == [("anchor", 3)]
    assert "signed by no known key" in report.problems[0].what
    assert report.anchors == 2, "those of the table"


def test_a_changed_row_of_the_table_is_named(ids, tamper):
    tamper("UPDATE audit_anchor SET hash = repeat('0', 64) WHERE seq = 3")
    assert named() == [("anchor", 3)]


def test_what_was_sealed_without_a_key_passes_once_somebody_vouches_for_it(record, settings):
    key, settings.AUDIT_SIGNING_KEY = settings.AUDIT_SIGNING_KEY, ""
    record()
    seal.seal()
    settings.AUDIT_SIGNING_KEY = key
    anchor()
    assert named() == [("unsigned", 1)], "an anchor alone vouches for nothing"
    anchor(accept_unsigned=True, reason="The first start after the upgrade.")
    seal.seal()
    assert verify.verify().ok
    assert Entry.objects.latest("id").reason == "The first start after the upgrade."


def test_vouching_does_not_reach_beyond_its_place_or_a_changed_chain(
    ids, tamper, rechain, settings
):
    anchor(accept_unsigned=True)
    tamper("DELETE FROM audit_signature WHERE first > 3")
    assert verify.verify().ok
    forge(tamper, rechain, ids[4])
    assert ("unsigned", 1) in named()


def test_vouching_by_command_wants_a_reason(ids, capsys):
    with pytest.raises(CommandError, match="--reason"):
        call_command("anchor", "--accept-unsigned")
    call_command("anchor", "--accept-unsigned", "--reason", "Upgrade.", "--json", "-")
    assert json.loads(capsys.readouterr().out)["accepts"] == 7


def test_what_cannot_be_written_down_is_no_anchor(record, settings, tmp_path):
    record()
    seal.seal()
    settings.AUDIT_ANCHOR_FILE = tmp_path
    with pytest.raises(AnchorNotWritten, match="AUDIT_ANCHOR_FILE"):
        anchor()
    assert not models.Anchor.objects.exists()
    assert not Entry.objects.filter(verb="log.anchored").exists()


def test_without_a_key_there_is_no_anchor(settings, anchor_file):
    settings.AUDIT_SIGNING_KEY = ""
    with pytest.raises(NoSigningKey):
        anchor()
    assert not anchor_file.exists()


def test_others_are_told_in_the_transaction_of_the_anchor(ids, settings):
    TOLD.clear()
    settings.AUDIT_ANCHOR_SINKS = [f"{__name__}.sink"]
    assert [anchor()] == TOLD
    settings.AUDIT_ANCHOR_SINKS = [f"{__name__}.failing_sink"]
    before = models.Anchor.objects.count()
    with pytest.raises(ValueError, match="no outbox"):
        anchor()
    assert models.Anchor.objects.count() == before
    assert verify.verify().ok, "the line in the file is true all the same"


def test_an_empty_log_can_be_anchored(anchor_file):
    assert anchor().seq == 0
    assert verify.verify().ok


@pytest.mark.parametrize("text", ["no json", '{"format": "x"}', '{"format": "signalbox-anchor/1"}'])
def test_a_file_that_holds_no_anchors_is_named(anchor_file, text):
    anchor_file.write_text(text)
    with pytest.raises(AnchorsUnreadable, match=r"anchors\.jsonl cannot be read"):
        verify.verify()
    with pytest.raises(CommandError, match=r"Name a file that manage\.py anchor wrote"):
        call_command("verify_audit", "--anchor", str(anchor_file))


def test_a_former_key_still_counts_for_anchors(ids, settings):
    former = signing.own()
    settings.AUDIT_SIGNING_KEY, _ = signing.make()
    settings.AUDIT_PUBLIC_KEYS = [former.text]
    assert verify.verify().ok


def test_a_line_that_was_cut_off_does_not_take_the_next_one_along(ids, anchor_file):
    whole = anchor_file.read_text()
    anchor_file.write_text(whole[:-40])
    made = anchor()
    lines = anchor_file.read_text().splitlines()
    assert json.loads(lines[-1])["signature"] == made.signature
    with pytest.raises(AnchorsUnreadable, match=r"line 2 is none.*may be taken out"):
        verify.verify()
    anchor_file.write_text("\n".join((lines[0], lines[2])) + "\n")
    assert verify.verify().ok
