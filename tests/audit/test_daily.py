"""The proof that the log makes of itself once a day."""

from __future__ import annotations

import pytest
from django.core.management import call_command

from audit import daily, errors, queries, seal, tasks, verify
from audit.models import Anchor, Entry

pytestmark = pytest.mark.django_db(transaction=True)
CALLED: list[list[str]] = []


def alarm(found: list[str]) -> None:
    CALLED.append(found)


@pytest.fixture(autouse=True)
def called(settings) -> list[list[str]]:
    CALLED.clear()
    settings.AUDIT_ALARMS = [f"{__name__}.alarm"]
    return CALLED


@pytest.fixture
def entry(record) -> Entry:
    made: Entry = record()
    seal.seal()
    return made


def a_day_passes(tamper) -> None:
    tamper("UPDATE audit_entry SET at = at - interval '25 hours'")
    tamper("DELETE FROM audit_signature")
    tamper("DELETE FROM audit_seal")


def test_an_intact_log_is_proved_and_anchored_once_a_day(entry, called):
    assert daily.run() is True
    assert list(Entry.objects.order_by("id").values_list("verb", flat=True)) == [
        "run.started",
        "log.proved",
        "log.anchored",
    ]
    assert Anchor.objects.get().seq == 1
    assert daily.run() is None
    assert called == []


def test_it_is_due_again_after_a_day(entry, tamper):
    daily.run()
    a_day_passes(tamper)
    seal.seal()
    assert daily.run() is not None


def test_a_proof_by_hand_does_not_replace_the_daily_one(entry):
    call_command("verify_audit", "--record")
    assert Entry.objects.latest("id").actor_label == "command line: verify_audit"
    assert daily.run() is True


def test_a_log_that_was_changed_calls_people_and_is_not_anchored(entry, tamper, called, caplog):
    tamper("UPDATE audit_entry SET reason = 'because' WHERE id = %s", entry.id)
    assert daily.run() is False
    (found,) = called
    assert found[0].startswith(f"Entry {entry.id} does not say")
    assert "NOT intact" in caplog.text
    assert Entry.objects.get(verb="log.disproved").data["problems"] == found
    assert not Anchor.objects.exists()


def test_an_anchor_that_cannot_be_written_calls_people(entry, settings, tmp_path, called):
    settings.AUDIT_ANCHOR_FILE = tmp_path / "x" / "y"
    (tmp_path / "x").write_text("no folder")
    assert daily.run() is False
    assert "AUDIT_ANCHOR_FILE" in called[0][0]


def test_beat_asks_often_and_never_twice_for_one_task(settings):
    assert settings.CELERY_BEAT_SCHEDULE["prove"]["task"] == tasks.prove.name
    assert tasks.prove.acks_late is False


def test_the_standing_says_when_it_was_proved_and_anchored(entry, tamper):
    before = queries.standing()
    assert (before.proof, before.anchored, before.overdue) == (None, None, False)
    daily.run()
    after = queries.standing()
    assert (after.disproved, after.overdue) == (False, False)
    assert after.proof
    assert after.anchored
    assert after.anchored.seq == 1


def test_a_log_that_nobody_proves_is_overdue(entry, tamper):
    tamper("UPDATE audit_seal SET sealed_at = sealed_at - interval '49 hours'")
    assert queries.standing().overdue
    daily.record(verify.verify(), actor=daily.SELF)
    assert not queries.standing().overdue


def test_a_proof_that_failed_is_the_standing_until_one_succeeds(entry, tamper):
    tamper("UPDATE audit_entry SET reason = 'because' WHERE id = %s", entry.id)
    daily.run()
    assert queries.standing().disproved
    tamper("UPDATE audit_entry SET reason = '' WHERE id = %s", entry.id)
    call_command("verify_audit", "--record")
    assert not queries.standing().disproved


@pytest.mark.parametrize("error", [TypeError("s3cr3t"), errors.NoSigningKey("Set a key.")])
def test_whatever_keeps_the_log_from_being_proved_calls_people(entry, called, monkeypatch, error):
    def fail() -> None:
        raise error

    monkeypatch.setattr(verify, "verify", fail)
    assert daily.run() is False
    ((said,),) = called
    assert "s3cr3t" not in said
    assert ("TypeError" in said) or said == "Set a key."
