"""Stepping through a run: before, after, meanwhile."""

from __future__ import annotations

import pytest

from runs import masking
from runs.models import Attempt
from runs.trace import listing, replay
from tests.runs.trace.conftest import text, url
from tests.support import standing as make
from tests.support import wavering
from tests.support.people import person

pytestmark = pytest.mark.race


def test_a_killed_and_approved_run_is_told_step_by_step(killed) -> None:
    run, user = killed("steady", answered=True), person("Rut")
    total = listing.count(run.pk)
    found = [replay.frame(run, user, place, masking.BARE) for place in range(1, total + 1)]
    frames = [each for each in found if each]
    told = [(each.result.state.ran, [e.state.label for e in each.events]) for each in frames]
    assert [ran for ran, _ in told] == ["", "input", "plan", "settle", "gate", "close"]
    settled = told[3][1]
    assert settled.count("Taken") == 1
    assert "Lost" in settled
    answered = told[4][1]
    assert "Waiting" in answered or "Approved" in answered
    assert frames[3].given is not None
    assert frames[3].given.values["log"] == ["planned"]
    assert frames[3].result.values["log"] == ["planned", {"paid": "A-7"}]
    assert [each.previous for each in frames] == [None, 1, 2, 3, 4, 5]
    assert frames[-1].following is None
    assert [e.state.label for e in frames[-1].after] == ["Took effect", "Finished"]


def test_links_lead_from_step_to_step_without_a_script(client, killed) -> None:
    run = killed("steady")
    client.force_login(person("Ada"))
    seen, address = [], "?step=1"
    while address:
        response = client.get(url(run, "replay") + address)
        seen.append(response.context["frame"].place)
        shown = response.content.decode()
        follows = shown.partition('rel="next" href="')[2].partition('"')[0]
        address = follows
    assert seen == [1, 2, 3, 4]
    assert "wavering.pay" in text(client, url(run, "replay") + "?step=4")
    assert "Happened since" in text(client, url(run, "replay") + "?step=4")


def test_a_checkpoint_leads_to_its_step_and_odd_places_to_the_nearest(client, killed) -> None:
    run = killed("steady")
    client.force_login(person("Ada"))

    def place(query: str) -> int:
        found: int = client.get(url(run, "replay") + query).context["frame"].place
        return found

    third = listing.at_place(run.pk, 3)[0]
    assert place(f"?at={third}") == 3
    assert [place(each) for each in ("?step=99", "?step=-4", "?step=x", "?at=gone", "")] == [
        4,
        1,
        1,
        1,
        1,
    ]


def test_nothing_hidden_is_in_the_replay(client, killed) -> None:
    run = killed("steady", answered=True)
    failed = {"error_class": "Refused", "error": f"no account of {wavering.SECRET}"}
    Attempt.objects.filter(run=run, fence=1).update(**failed)
    client.force_login(person("Cy"))
    assert "no account of hidden (email)" in text(client, f"{url(run, 'replay')}?step=4")
    for place in range(1, listing.count(run.pk) + 1):
        assert wavering.SECRET not in text(client, f"{url(run, 'replay')}?step={place}")
    assert client.get(url(run, "replay") + "?step=3&reveal=1").status_code == 403
    client.force_login(person("Ada"))
    shown = text(client, url(run, "replay") + "?step=4&reveal=1")
    assert wavering.SECRET in shown
    assert "?step=5&amp;reveal=1" in shown or "?step=5&reveal=1" in shown


@pytest.mark.django_db
def test_a_run_that_saved_nothing_says_so(client) -> None:
    client.force_login(person("Ada"))
    assert "Nothing to replay" in text(client, url(make.run(), "replay"))
