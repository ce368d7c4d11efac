"""The pages of one run: its tabs, a checkpoint, hidden values."""

from __future__ import annotations

from uuid import uuid4

import pytest
from django.urls import reverse

from accounts.actors import Actor
from audit import trail
from audit.models import Entry
from runs.models import Pulse, Run, Worker
from runs.status import Park, Status
from tests.support import standing as make
from tests.support.people import person

pytestmark = pytest.mark.django_db
SECRET = {"order_id": "7", "customer": {"email": "jo@example.com"}}


@pytest.fixture
def ada(client):
    user = person("Ada", last_name="Marsh")
    client.force_login(user)
    return user


def at(run, name: str = "run", *more: str) -> str:
    address: str = reverse(f"runs:{name}", args=[run.pk, *more])
    return address


def page(client, run, name: str = "run", *more: str) -> str:
    response = client.get(at(run, name, *more))
    assert response.status_code == 200
    shown: str = response.content.decode()
    return shown


def test_a_stuck_run_is_promised_only_what_will_happen(client, ada) -> None:
    run = make.stuck()
    assert "No worker is alive, so nothing happens until one is started." in page(client, run)
    worker = Worker.objects.create(name="w", hostname="h", pid=1, agents={"other": "1.0"})
    assert "No worker that knows this agent is alive" in page(client, run)
    worker.agents = {"refund_desk": "1.0"}
    worker.save()
    assert "The sweeper, which would hand it to another worker, does not run." in page(client, run)
    Pulse.objects.create(name="sweeper", at=make.ago(seconds=1))
    assert "The sweeper hands it to another worker." in page(client, run)


def test_how_often_a_run_was_taken_does_not_read_like_a_retry(client, ada) -> None:
    run = make.running()
    assert "<dt>Picked up</dt><dd>once</dd>" in page(client, run)
    make.lease(run, fence=3)
    assert "<dt>Picked up</dt><dd>3 times</dd>" in page(client, run)
    assert "<dt>Picked up</dt><dd>not yet</dd>" in page(client, make.run())


def test_the_key_that_a_form_made_is_nothing_for_people(client, ada) -> None:
    assert "with the key order-7" in page(client, make.run(idempotency_key="order-7"))
    assert "form:" not in page(client, make.run(idempotency_key="form:x:0123456789abcdef"))


# --- the header -----------------------------------------------------------------------------------


def test_a_run_that_does_not_exist_is_not_found(client, ada) -> None:
    response = client.get(reverse("runs:run", args=[uuid4()]))
    assert response.status_code == 404
    assert b"no run with this id" in response.content


def test_who_may_not_see_runs_is_refused_on_every_page(client) -> None:
    client.force_login(person("Dee"))
    run = make.run()
    for name in ("run", "state", "audit", "export", "cancel", "resume"):
        assert client.get(at(run, name)).status_code == 403
    assert client.get(at(run, "tab", "effects")).status_code == 403


def test_the_facts_say_who_started_it_and_who_holds_it(client, ada) -> None:
    run = make.running("Digest", by=ada)
    make.lease(run, progress_note="page 3 of 9")
    shown = page(client, run)
    for text in (str(run.pk), "Ada Marsh", make.HOLDER, "fence 1", "page 3 of 9"):
        assert text in shown


def buttons(client, run) -> list[str]:
    return [control.name for control in client.get(at(run)).context["top"].offers]


@pytest.mark.parametrize(
    ("made", "offered"),
    [
        (lambda: make.run(), ["cancel"]),
        (lambda: make.running(), ["cancel"]),
        (lambda: make.stuck(), ["resume", "cancel"]),
        (lambda: make.stalled(), ["resume", "cancel"]),
        (lambda: make.run(status=Status.WAITING), ["resume", "cancel"]),
        (lambda: make.run(due_at=make.soon(minutes=1)), ["retry", "cancel"]),
        (lambda: make.parked(Park.CRASH_LOOP), ["resume", "cancel"]),
        (lambda: make.parked(Park.BAD_ANSWER), ["ask_again", "retry", "resume", "cancel"]),
        (lambda: make.parked(Park.DEADLINE), ["ask_again", "resume", "cancel"]),
        (lambda: make.parked(Park.EFFECT_IN_DOUBT), ["cancel"]),
        (lambda: make.running(cancel_asked_at=make.ago(seconds=1)), []),
        (lambda: make.run(status=Status.SUCCEEDED), []),
    ],
)
def test_only_what_helps_is_offered(client, ada, made, offered) -> None:
    assert buttons(client, made()) == offered


def test_nothing_is_offered_to_who_may_not(client) -> None:
    client.force_login(person("Cy"))
    assert buttons(client, make.stuck()) == []


@pytest.mark.parametrize(
    ("reason", "way_out"),
    [
        (Park.GRAPH_CHANGED, "resume"),
        (Park.BAD_ANSWER, "ask_again"),
        (Park.READ_ONLY, "cancel"),
        (Park.STATE_LOST, "cancel"),
    ],
)
def test_a_parked_run_says_what_to_do_and_leads_there(client, ada, reason, way_out) -> None:
    run = make.parked(reason, park_detail="because")
    (notice,) = client.get(at(run)).context["top"].notices
    assert notice.url == at(run, way_out)
    assert notice.action.endswith("…")


def test_who_may_not_act_is_told_the_same_without_a_way(client) -> None:
    client.force_login(person("Cy"))
    (notice,) = client.get(at(make.parked(Park.GRAPH_CHANGED))).context["top"].notices
    assert (notice.url, notice.action) == ("", "")


@pytest.mark.parametrize("reason", Park.values)
def test_every_reason_for_being_parked_is_explained(client, ada, reason) -> None:
    assert make.parked(reason).park_reason == reason
    run = Run.objects.get()
    (notice,) = client.get(at(run)).context["top"].notices
    told_above = reason in (Park.EFFECT_IN_DOUBT, Park.DRIFT, Park.EMERGENCY_STOP)
    assert notice.key == ("parked.waking" if told_above else f"parked.{reason}")


def test_a_run_that_is_being_cancelled_says_by_whom(client, ada) -> None:
    run = make.running(
        cancel_asked_at=make.ago(seconds=1), cancelled_by="Ada", cancel_reason="Twice."
    )
    shown = page(client, run)
    assert "Ada asked to cancel" in shown
    assert ": Twice. There is nothing to do: it ends at its next step." in shown


def test_a_failed_run_says_its_error(client, ada) -> None:
    run = make.run(status=Status.FAILED, error_class="Timeout", error="no answer in 20 s")
    assert "Timeout: no answer in 20 s" in page(client, run)


def test_a_run_under_way_keeps_itself_up_to_date_and_an_ended_one_rests(client, ada) -> None:
    assert 'data-live="5"' in page(client, make.running())
    assert 'data-live="5"' not in page(client, make.run(status=Status.SUCCEEDED))


def test_a_poll_answers_with_the_region_alone(client, ada) -> None:
    response = client.get(at(make.running()), headers={"HX-Request": "true"})
    assert b"<html" not in response.content
    assert b'class="timeline"' in response.content


# --- tabs -----------------------------------------------------------------------------------------


def test_tabs_are_links_with_counts(client, ada) -> None:
    tabs = client.get(at(make.run())).context["top"].tabs
    assert [(tab.label, tab.count) for tab in tabs] == [
        ("Timeline", None),
        ("Effects", 0),
        ("Approvals", 0),
        ("Attempts", None),
        ("Checkpoints", None),
        ("Replay", None),
        ("Input and state", None),
        ("Audit", None),
    ]
    for tab in tabs:
        assert client.get(tab.url).status_code == 200


def test_a_tab_that_nobody_offers_is_not_found(client, ada) -> None:
    assert client.get(at(make.run(), "tab", "weather")).status_code == 404


def test_the_timeline_pages_through_many_checkpoints(client, ada) -> None:
    run = make.running(created_at=make.ago(hours=2))
    for number in range(80):
        make.checkpoint(
            run, number, at=make.ago(minutes=119 - number / 2), updated=["branch:to:model"]
        )
    newest = client.get(at(run))
    assert newest.context["older"].startswith("?before=")
    older = client.get(at(run) + newest.context["older"])
    assert older.context["newer"].startswith(at(run))
    assert not older.context["older"]
    assert 'data-live="5"' not in older.content.decode()


def test_the_audit_tab_shows_auditors_everything_and_others_their_own(client, ada) -> None:
    run = make.run()
    for actor in (Actor.person(ada, entry="page"), Actor.system("sweeper")):
        trail.record("run.retried", actor=actor, target=("run", str(run.pk)), run_id=run.pk)
    assert len(client.get(at(run, "audit")).context["entries"]) == 1
    client.force_login(person("Cy"))
    assert len(client.get(at(run, "audit")).context["entries"]) == 2


def test_an_entry_of_an_unknown_verb_is_still_shown(client, ada) -> None:
    run = make.run()
    Entry.objects.create(
        verb="run.from_the_future",
        actor_kind="user",
        actor_id=str(ada.pk),
        entry="page",
        target_kind="run",
        target_id=str(run.pk),
        run_id=run.pk,
    )
    assert "run.from_the_future" in page(client, run, "audit")


# --- hidden values --------------------------------------------------------------------------------


def test_values_are_hidden_until_somebody_permitted_asks_and_that_is_recorded(client, ada) -> None:
    run = make.run(input=SECRET)
    shown = page(client, run, "state")
    assert "jo@example.com" not in shown
    assert "hidden (email)" in shown
    assert "Show hidden values" in shown
    assert not Entry.objects.filter(verb="payload.viewed").exists()

    assert b"jo@example.com" in client.get(at(run, "state") + "?reveal=1").content
    entry = Entry.objects.get(verb="payload.viewed")
    assert (entry.actor_id, entry.run_id) == (str(ada.pk), run.pk)


def test_who_may_not_see_payloads_is_refused_and_that_is_recorded(client) -> None:
    client.force_login(person("Cy"))
    run = make.run(input=SECRET)
    assert "Show hidden values" not in page(client, run, "state")
    assert client.get(at(run, "state") + "?reveal=1").status_code == 403
    assert Entry.objects.filter(verb="payload.view_refused", allowed=False).exists()


def test_the_output_of_a_finished_run_is_shown_masked(client, ada) -> None:
    run = make.run(status=Status.SUCCEEDED, output={"sent_to_email": "jo@example.com", "n": 5})
    shown = page(client, run, "state")
    assert "Output" in shown
    assert "jo@example.com" not in shown


def test_a_run_that_has_saved_nothing_says_so(client, ada) -> None:
    assert "Nothing saved yet" in page(client, make.run(), "state")


# --- one checkpoint -------------------------------------------------------------------------------


@pytest.mark.django_db(transaction=True)
def test_a_checkpoint_is_shown_with_what_changed_and_what_comes_next(client) -> None:
    client.force_login(person("Ada"))
    run = make.running()
    ids = [
        make.checkpoint(
            run,
            number,
            at=make.ago(minutes=9 - number),
            updated=[f"branch:to:{node}"],
            values={"step": node, "email": f"{node}@example.com"},
        )
        for number, node in enumerate(("load", "assess", "send"))
    ]
    response = client.get(at(run, "checkpoint", ids[1]))
    shown = response.content.decode()
    assert response.context["saved"].ran == "load"
    assert response.context["saved"].due == "assess"
    assert at(run, "checkpoint", ids[0]) in shown
    assert at(run, "checkpoint", ids[2]) in shown
    assert "Changed since checkpoint -1" in shown
    assert "assess@example.com" not in shown
    assert b"assess@example.com" in client.get(at(run, "checkpoint", ids[1]) + "?reveal=1").content


def test_a_checkpoint_that_is_not_of_this_run_is_not_found(client, ada) -> None:
    response = client.get(at(make.run(), "checkpoint", "1f0"))
    assert response.status_code == 404
    assert b"no such checkpoint" in response.content


def test_a_run_says_why_nothing_is_offered(client) -> None:
    run = make.running()
    client.force_login(person("Cy"))
    assert "Operators cancel and resume them" in client.get(at(run)).content.decode()
    client.force_login(person("Ada"))
    assert client.get(at(run)).context["top"].barred == ""
    Run.objects.filter(pk=run.pk).update(cancel_asked_at=make.ago(seconds=1))
    assert "being cancelled" in client.get(at(run)).content.decode()
    Run.objects.filter(pk=run.pk).update(status=Status.CANCELLED, ended_at=make.ago(seconds=1))
    assert client.get(at(run)).context["top"].barred == ""
