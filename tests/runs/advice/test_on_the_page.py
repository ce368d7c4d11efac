"""The page of a run that is held up says what is wrong, what to do, and where or whom to ask."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from uuid import uuid4

import pytest
from django.urls import reverse

from approvals.models import Request
from approvals.policy import Policy
from ledger.models import Drift, Effect, Stop
from runs import dispatch
from runs.advice.table import ADVICES
from runs.models import Pulse, Run, Worker
from runs.status import Park, Status
from tests.approvals.conftest import ours
from tests.support import standing as make
from tests.support.fleet import well
from tests.support.people import person

pytestmark = pytest.mark.django_db


def nobody() -> None:
    Worker.objects.all().delete()


def others() -> None:
    Worker.objects.update(agents={"other": "1.0"})


def busy() -> None:
    make.running()
    make.running()


def quiet() -> None:
    Pulse.objects.filter(name="sweeper").delete()


def away() -> None:
    dispatch._heard = (float("inf"), False)


@pytest.fixture(autouse=True)
def asked_again(monkeypatch) -> None:
    """What a test says of the broker is forgotten after it."""
    monkeypatch.setattr(dispatch, "_heard", dispatch.NOT_ASKED)


def effect(run: Run, **fields: Any) -> Effect:
    key = uuid4().hex
    names = ("idempotency_key", "provider_key", "args_hash", "step")
    usual: dict[str, Any] = {
        "tool": "payments.refund",
        "idempotency": "provider",
        "args": {},
        "status": "in_doubt",
        "fence": 1,
    }
    return Effect.objects.create(run=run, **usual | dict.fromkeys(names, key) | fields)


def doubtful(run: Run) -> Run:
    effect(run)
    return run


def drifted() -> Run:
    run = make.parked(Park.DRIFT)
    before = effect(run, status="sent")
    Drift.objects.create(
        run=run,
        step=before.step,
        tool=before.tool,
        before=before,
        fence_before=1,
        key="other",
        args={},
        args_hash="0" * 64,
        fence=2,
        stopped=True,
    )
    return run


def stopped(run: Run) -> Run:
    Stop.objects.create(scope="everything", name="", reason="Double charges.", set_by="Ada")
    return run


def asked(*, group: str = "finance") -> Run:
    run = make.run(status=Status.WAITING, wait_until=make.soon(hours=1))
    Request.objects.create(
        run=run,
        title="Refund?",
        interrupt_id="i",
        checkpoint_id="c1",
        askers=[],
        shape="ours",
        payload=ours("Refund?"),
        digest="0" * 64,
        policy=Policy(name="p", group=group).stored(),
        group=group,
        groups=[group],
        deadline=make.soon(hours=1),
        fence=1,
    )
    return run


def with_(before: Callable[[], None], made: Callable[[], Run]) -> Callable[[], Run]:
    def make_both() -> Run:
        before()
        return made()

    return make_both


def parked(reason: Park) -> Callable[[], Run]:
    return lambda: make.parked(reason, park_detail="because of that")


def retrying() -> Run:
    return make.run(due_at=make.soon(minutes=1))


def cancelling(made: Callable[..., Run]) -> Callable[[], Run]:
    asked = {"cancelled_by": "Ada", "cancel_reason": "Twice."}
    return lambda: made(cancel_asked_at=make.ago(seconds=1), **asked)


MADE: dict[str, Callable[[], Run]] = {
    "queued.no_worker": with_(nobody, make.run),
    "queued.unknown_agent": with_(others, make.run),
    "queued.busy": with_(busy, make.run),
    "queued.broker_away": with_(away, make.run),
    "queued.sweeper_quiet": with_(quiet, make.run),
    "queued.stopped": lambda: stopped(make.run()),
    "retrying": retrying,
    "stuck": make.stuck,
    "stuck.no_worker": with_(nobody, make.stuck),
    "stuck.unknown_agent": with_(others, make.stuck),
    "stuck.broker_away": with_(away, make.stuck),
    "stuck.sweeper_quiet": with_(quiet, make.stuck),
    "stalled": make.stalled,
    "in_doubt": lambda: doubtful(make.running()),
    "read_only": lambda: make.running(read_only=True),
    "cancelling": cancelling(make.running),
    "cancelling.resting": cancelling(make.run),
    "cancelling.no_worker": with_(nobody, cancelling(make.run)),
    "cancelling.broker_away": with_(away, cancelling(make.run)),
    "cancelling.stuck": cancelling(make.stuck),
    "cancelling.sweeper_quiet": with_(quiet, cancelling(make.stuck)),
    "cancelling.stalled": cancelling(make.stalled),
    "waiting": asked,
    "waiting.nobody": lambda: asked(group="nobody"),
    "waiting.answered": lambda: make.run(status=Status.WAITING),
    "failed": lambda: make.run(status=Status.FAILED, error_class="E", error="Broken"),
    "parked.waking": parked(Park.EFFECT_IN_DOUBT),
    **{f"parked.{reason}": parked(reason) for reason in Park},
    f"parked.{Park.EFFECT_IN_DOUBT}": lambda: doubtful(make.parked(Park.EFFECT_IN_DOUBT)),
    f"parked.{Park.EMERGENCY_STOP}": lambda: stopped(make.parked(Park.EMERGENCY_STOP)),
    f"parked.{Park.DRIFT}": drifted,
}
NO_NEWS = {"queued"}
"""A run that waits as it should: only lists that ask for it are told."""


def told(client: Any, run: Run, key: str) -> Any:
    top = client.get(reverse("runs:run", args=[run.pk])).context["top"]
    found = [notice for notice in top.notices if notice.key == key]
    assert len(found) == 1, [notice.key for notice in top.notices]
    return found[0]


def words(notice: Any) -> str:
    return "".join("<time>" if piece.at else piece.text for piece in notice.text)


def test_an_error_that_is_a_sentence_ends_with_one_full_stop(client) -> None:
    client.force_login(person("Rut"))
    run = make.run(status=Status.FAILED, error_class="LookupError", error="There is no order 7.")
    assert words(told(client, run, "failed")).startswith("LookupError: There is no order 7. C")


def test_every_advice_has_a_run_that_shows_it() -> None:
    assert set(MADE) | NO_NEWS == set(ADVICES)


@pytest.mark.parametrize("key", sorted(MADE))
def test_who_may_do_it_is_led_to_the_place_where_it_is_done(client, key) -> None:
    well()
    client.force_login(person("Rut", "finance"))
    notice = told(client, MADE[key](), key)
    if key != "waiting":
        assert str(ADVICES[key].todo) in words(notice)
        assert "Ask somebody" not in words(notice)
    assert notice.action
    assert client.get(notice.url).status_code == 200


@pytest.mark.parametrize("key", sorted(MADE))
def test_who_may_not_is_told_whom_to_ask_by_name(client, key) -> None:
    well()
    for name, group in (("Ada", "operator"), ("Ben", "finance"), ("Rut", "admin")):
        person(name, group, last_name="Marsh")
    client.force_login(person("Cy"))
    notice = told(client, MADE[key](), key)
    if key == "waiting":
        assert "It can be decided by Ben Marsh" in words(notice)
    elif ADVICES[key].permission:
        assert "Ask somebody of the group" in words(notice)
        assert "Marsh" in words(notice)
    if notice.url:
        assert client.get(notice.url).status_code == 200


def test_of_many_who_can_decide_only_some_are_named(client) -> None:
    well()
    for name in ("Ann", "Ben", "Eve", "Fay"):
        person(name, "finance", "approver")
    client.force_login(person("Cy"))
    said = words(told(client, MADE["waiting"](), "waiting"))
    assert said.endswith("It can be decided by Ann, Ben, Eve and others.")


def test_when_nobody_has_the_permission_the_server_has_to_be_asked(client) -> None:
    client.force_login(person("Cy"))
    notice = told(client, make.parked(Park.CRASH_LOOP), "parked.crash_loop")
    assert "Nobody here may do that: whoever runs this server adds somebody" in words(notice)


def test_what_was_noted_when_the_run_was_parked_is_shown(client) -> None:
    client.force_login(person("Ada"))
    run = make.parked(Park.GRAPH_CHANGED, park_detail="missing: assess")
    assert "does not fit this run. missing: assess. Deploy" in words(
        told(client, run, "parked.graph_changed")
    )


def test_a_question_that_the_reader_may_not_see_is_still_said_to_be_open(client) -> None:
    ben = person("Ben")
    client.force_login(ben)
    run = asked()
    Run.objects.filter(pk=run.pk).update(started_by=ben)
    notice = told(client, run, "waiting")
    assert "It waits for an answer." in words(notice)
    assert "Refund" not in words(notice)


def test_a_run_that_is_being_cancelled_is_not_said_to_wait_for_people(client) -> None:
    well()
    client.force_login(person("Ben", "finance"))
    run = stopped(asked())
    asked_to_end = {"cancel_asked_at": make.ago(seconds=1), "cancelled_by": "Ada"}
    Run.objects.filter(pk=run.pk).update(cancel_reason="Twice.", **asked_to_end)
    top = client.get(reverse("runs:run", args=[run.pk])).context["top"]
    assert [notice.key for notice in top.notices] == ["cancelling.resting"]
    assert "Ada asked to cancel <time>: Twice. There is nothing to do" in words(top.notices[0])
    effect(run)
    top = client.get(reverse("runs:run", args=[run.pk])).context["top"]
    assert [notice.key for notice in top.notices] == ["in_doubt", "cancelling.resting"]


def test_a_tool_that_is_stopped_does_not_worry_a_run_that_may_never_call_it(client) -> None:
    well()
    client.force_login(person("Ada"))
    Stop.objects.create(scope="tool", name="other", reason="Why.", set_by="Ada")
    top = client.get(reverse("runs:run", args=[make.run().pk])).context["top"]
    assert top.notices == []


def test_only_a_few_people_are_named(client) -> None:
    for number in range(5):
        person(f"Olu{number}", "operator")
    client.force_login(person("Cy"))
    text = words(told(client, make.stuck(), "stuck.no_worker"))
    assert "Olu" not in text, "nobody is asked for what whoever runs the server does"
    well()
    text = words(told(client, Run.objects.get(), "stuck"))
    assert "Olu0, Olu1, Olu2…." in text
