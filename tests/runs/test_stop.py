"""What stops a run is told in words of ours, in the reader's language."""

from __future__ import annotations

import pytest
from django.utils import translation

from ledger import refusals
from runs import stop
from runs.status import Outcome, Park
from runs.timeline import events
from tests.support import standing as make


def test_what_stops_a_run_is_told_without_the_name_of_a_class() -> None:
    stopped = refusals.EmergencyStopped()
    assert stop.told("EmergencyStopped", str(stopped)) == str(stopped)
    assert stop.told("ValueError", "no such order") == "ValueError: no such order"
    assert stop.told("", "") == ""


@pytest.mark.parametrize("refusal", stop.StopRun.__subclasses__(), ids=lambda each: each.__name__)
def test_each_reason_to_stop_is_told_in_german(refusal) -> None:
    english = refusal.sentence()
    with translation.override("de"):
        german = stop.told(refusal.__name__, "as it was kept")
    assert german not in (english, "as it was kept")


@pytest.mark.parametrize("name", stop.SEEN)
def test_what_only_we_saw_is_told_plainly_and_its_name_last(name) -> None:
    english = stop.told(name, "as it was kept")
    assert english.endswith(f" ({name})")
    assert "as it was kept" not in english
    with translation.override("de"):
        german = stop.told(name, "as it was kept")
    assert german.endswith(f" ({name})")
    assert german != english


def test_the_events_of_attempts_speak_the_language_of_the_reader(db) -> None:
    run = make.parked(Park.EMERGENCY_STOP)
    attempt = make.attempt(
        run,
        2,
        cause="decision",
        outcome=Outcome.PARKED,
        ended_at=make.ago(seconds=1),
        detail="Emergency stop",
        error_class="EmergencyStopped",
        error=str(refusals.EmergencyStopped()),
    )
    with translation.override("de"):
        taken, ended = events.of_attempts([attempt])
    assert taken.note[0].text.endswith("· Entscheidung")
    assert ended.text.startswith("Ein Notstopp")
    assert [piece.text for piece in ended.note] == ["Notstopp"]
