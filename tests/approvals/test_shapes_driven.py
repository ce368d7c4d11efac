"""One real graph for each shape, driven and answered through the page: what does the node receive?

LangChain's agents, LangGraph and pydantic check the answers here as they would anywhere.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import timedelta
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from accounts.actors import Actor
from approvals.models import Decision, Request, Vote
from runs import admission, checkpoints, controls, driver
from runs.heartbeat import Heart
from runs.models import Run
from tests.approvals.conftest import now
from tests.support import agents, caches
from tests.support.people import person
from tests.support.posting import control, form_of, offered

pytestmark = pytest.mark.django_db(transaction=True)
MAIL, FILE = agents.MAIL, agents.FILE
CHANGED = MAIL | {"copies": 3, "share": 0.75}


@pytest.fixture(autouse=True)
def clean(monkeypatch, transactional_db) -> Iterator[None]:
    # These drives are shorter than a lease; a heart would keep its connection for ever.
    monkeypatch.setattr(Heart, "_ensure_thread", lambda _: None)
    agents.CALLS.clear()
    agents.RECEIVED.clear()
    caches.forget()
    yield
    caches.forget()


@pytest.fixture(scope="module", autouse=True)
def connections_end(django_db_setup: None) -> Iterator[None]:
    yield
    checkpoints.close()


@pytest.fixture(autouse=True)
def policies(settings) -> None:
    settings.APPROVALS_POLICIES = []
    settings.APPROVALS_DEFAULT = {
        "name": "default",
        "group": "finance",
        "deadline": timedelta(hours=1),
        "editable": ["copies", "share", "cents"],
    }


@pytest.fixture
def start(settings) -> Callable[..., Run]:
    """A run of one of the agents, driven until it asks."""

    def start(name: str) -> Run:
        settings.RUNS_AGENTS = [
            {"name": "agent", "graph": f"tests.support.agents.{name}", "version": "1"}
        ]
        caches.forget()
        run = admission.start("agent", {}, actor=Actor.command("test"))
        drive(run)
        assert now(run).status == "waiting", now(run).park_detail
        return run

    return start


def drive(run: Run) -> None:
    driver.drive(run.pk, holder="w1", cause="test")


class Desk:
    """Ben and Eve, each at the page of the one open request of a run."""

    def __init__(self, run: Run) -> None:
        self.run = run
        self.clients = {}
        for name in ("Ben", "Eve"):
            client = Client()
            client.force_login(person(name, "finance", "approver"))
            self.clients[name] = client

    @property
    def request(self) -> Request:
        return Request.objects.get(run=self.run, status="pending")

    @property
    def address(self) -> str:
        return reverse("approvals:review", args=[self.request.pk])

    def page(self, who: str = "Ben") -> Any:
        return self.clients[who].get(self.address)

    def send(self, who: str = "Ben", **filled: object) -> Any:
        """Fill in what stands on the page and send it. `_` in a name stands for the token."""
        address, page = self.address, self.page(who)
        form: dict[str, Any] = {
            name: values for name, values in form_of(page).items() if values != [""]
        }
        return self.clients[who].post(address, form | filled)

    def field(self, label: str) -> str:
        return control(self.page(), label)

    def fields(self, who: str = "Ben") -> list[str]:
        return list(form_of(self.page(who)))

    def token(self, place: int = 0) -> str:
        """Of the action at this place on the page."""
        names = [*self.fields(), *_radios(self.page())]
        found = list(dict.fromkeys(name.split(".")[0] for name in names if _is_token(name)))
        return found[place]


def _is_token(name: str) -> bool:
    return len(name.split(".")[0]) == 16


def _radios(page: Any) -> list[str]:
    text: str = page.content.decode()
    return [part.split('"')[0] for part in text.split('name="')[1:]]


@pytest.fixture
def desk(start) -> Callable[[str], Desk]:
    def desk(name: str) -> Desk:
        return Desk(start(name))

    return desk


def finished(desk: Desk) -> Any:
    """What the run ended with, once the answer has been delivered."""
    assert Decision.objects.count() == 1, Vote.objects.values()
    drive(desk.run)
    assert now(desk.run).status == "succeeded", now(desk.run).park_detail
    assert Decision.objects.get().delivery == "took_effect"
    return now(desk.run).output


def messages(desk: Desk) -> list[tuple[str, str]]:
    """What the model was told about its calls."""
    return [
        (message["name"], message["content"])
        for message in finished(desk)["messages"]
        if message["type"] == "tool"
    ]


# --- LangChain, one question about all calls ------------------------------------------------------


def test_a_batch_is_decided_call_by_call_and_sent_together(desk):
    desk = desk("batched")
    first, second = desk.token(0), desk.token(1)
    assert offered(desk.page(), first) == ["approve", "edit", "reject", "respond"]
    assert offered(desk.page(), second) == ["approve", "reject"]
    sent = {"choice": "send", first: "approve", second: "reject", f"{second}.reject": "Keep it."}
    assert desk.send(**sent).status_code == 302
    told = messages(desk)
    assert agents.CALLS == [("send_email", MAIL)]
    assert [name for name, _ in told] == ["delete_file", "send_email"]
    assert "Keep it." in dict(told)["delete_file"]
    assert Decision.objects.get().answer == {
        "decisions": [{"type": "approve"}, {"type": "reject", "message": "Keep it."}]
    }


def test_a_changed_call_of_a_batch_runs_as_changed_with_its_types(desk):
    desk = desk("batched")
    first, second = desk.token(0), desk.token(1)
    copies, share = desk.field("Copies"), desk.field("Share")
    changed = {"choice": "send", first: "edit", second: "approve", copies: "3", share: "0.75"}
    assert desk.send(**changed).status_code == 302
    assert not Decision.objects.exists()  # somebody else has to approve what Ben changed
    page = desk.page("Eve")
    assert "Ben proposes changes" in page.content.decode()
    assert form_of(page)[first] == ["edit"]
    assert form_of(page)[copies] == ["3"]
    assert desk.send("Eve", choice="send").status_code == 302
    finished(desk)
    assert sorted(agents.CALLS) == [("delete_file", FILE), ("send_email", CHANGED)]
    (_, ran) = next(call for call in agents.CALLS if call[0] == "send_email")
    assert {name: type(value) for name, value in ran.items()} == {
        "to": str,
        "copies": int,
        "urgent": bool,
        "share": float,
    }


def test_a_person_may_answer_in_the_place_of_a_tool(desk):
    desk = desk("batched")
    first, second = desk.token(0), desk.token(1)
    sent = {"choice": "send", first: "respond", f"{first}.respond": "Sent by hand."}
    assert desk.send(**sent, **{second: "approve"}).status_code == 302
    assert dict(messages(desk))["send_email"] == "Sent by hand."
    assert agents.CALLS == [("delete_file", FILE)]


@pytest.mark.parametrize("left_out", [0, 1])
def test_a_batch_that_is_not_decided_as_a_whole_is_refused(desk, left_out):
    desk = desk("batched")
    tokens = [desk.token(0), desk.token(1)]
    chosen = {token: "approve" for n, token in enumerate(tokens) if n != left_out}
    response = desk.send(choice="send", **chosen)
    assert response.status_code == 422
    assert "Choose what is to be done with this." in response.content.decode()
    assert form_of(response)[tokens[1 - left_out]] == ["approve"]
    assert not Vote.objects.exists()


def test_a_decision_that_is_not_allowed_cannot_be_sent_past_the_page(desk):
    desk = desk("batched")
    first, second = desk.token(0), desk.token(1)
    response = desk.send(choice="send", **{first: "approve", second: "respond"})
    assert response.status_code == 422
    assert not Vote.objects.exists()


@pytest.mark.parametrize(
    ("pressed", "ran", "told"),
    [
        ({"verdict": "approved"}, [("send_email", MAIL)], "sent"),
        ({"verdict": "rejected", "comment": "Not today."}, [], "Not today."),
        ({"choice": "respond", "{}.respond": "Sent by hand."}, [], "Sent by hand."),
    ],
)
@pytest.mark.parametrize("agent", ["batched_one", "per_call"])
def test_a_single_call_is_decided_by_one_button(desk, agent, pressed, ran, told):
    desk = desk(agent)
    token = desk.token()
    filled = {name.replace("{}", token): value for name, value in pressed.items()}
    assert desk.send(**filled).status_code == 302
    ((_, said),) = messages(desk)
    assert told in said
    assert ran == agents.CALLS


@pytest.mark.parametrize("agent", ["batched_one", "per_call"])
def test_a_single_call_is_changed_by_one_and_approved_by_another(desk, agent):
    desk = desk(agent)
    copies, share = desk.field("Copies"), desk.field("Share")
    assert desk.send(choice="edit", **{copies: "3", share: "0.75"}).status_code == 302
    assert desk.send("Eve", choice="edit").status_code == 302
    finished(desk)
    assert agents.CALLS == [("send_email", CHANGED)]
    assert type(agents.CALLS[0][1]["share"]) is float


@pytest.mark.parametrize("agent", ["batched_one", "per_call", "inbox"])
def test_what_was_filled_in_is_not_dropped_by_another_button(desk, agent):
    desk = desk(agent)
    copies = desk.field("Copies")
    response = desk.send(verdict="approved", **{copies: "3"})
    assert response.status_code == 422
    assert "You filled this in, but pressed" in response.content.decode()
    assert form_of(response)[copies] == ["3"]
    assert not Vote.objects.exists()


@pytest.mark.parametrize(
    ("copies", "says"), [("three", "digits only"), ("", "required"), ("2", "Nothing was changed")]
)
@pytest.mark.parametrize("agent", ["batched_one", "per_call", "inbox"])
def test_a_change_that_does_not_fit_is_told_beside_the_field(desk, agent, copies, says):
    desk = desk(agent)
    name = desk.field("Copies")
    response = desk.send(choice="edit", **{name: copies})
    assert response.status_code == 422
    assert says in response.content.decode()
    assert form_of(response)[name] == [copies]
    assert not Vote.objects.exists()


# --- Agent Inbox ----------------------------------------------------------------------------------

ASKED = {"action": "send_email", "args": MAIL}


@pytest.mark.parametrize(
    ("pressed", "received"),
    [
        ({"verdict": "approved"}, {"type": "accept", "args": ASKED}),
        ({"verdict": "rejected", "comment": "No."}, {"type": "ignore", "args": None}),
        (
            {"choice": "response", "{}.response": "Wait.\r\nPlease."},
            {"type": "response", "args": "Wait.\nPlease."},
        ),
    ],
)
def test_an_inbox_receives_a_list_of_one(desk, pressed, received):
    desk = desk("inbox")
    token = desk.token()
    filled = {name.replace("{}", token): value for name, value in pressed.items()}
    assert desk.send(**filled).status_code == 302
    finished(desk)
    assert [[received]] == agents.RECEIVED


def test_an_inbox_receives_changed_values_with_their_types(desk):
    desk = desk("inbox")
    copies, share = desk.field("Copies"), desk.field("Share")
    desk.send(choice="edit", **{copies: "3", share: "0.75"})
    desk.send("Eve", choice="edit")
    finished(desk)
    ((got,),) = agents.RECEIVED
    assert got == {"type": "edit", "args": {"action": "send_email", "args": CHANGED}}
    assert [type(got["args"]["args"][key]) for key in ("copies", "urgent", "share")] == [
        int,
        bool,
        float,
    ]


# --- typed ----------------------------------------------------------------------------------------


def test_a_json_schema_is_held_to_although_langgraph_does_not(desk):
    desk = desk("typed_dict")
    token = desk.token()
    v = f"{token}.v"
    filled = {
        f"{v}.0": "7",
        f"{v}.1": "12.50",
        f"{v}.2": "false",
        f"{v}.3": "2026-12-24",
        f"{v}.4": "ada@example.com",
        f"{v}.5": "2",
        f"{v}.6.0": "fragile",
        f"{v}.7.0": "Main Street 1",
    }
    wrong = desk.send(choice="answer", **filled | {f"{v}.0": "0", f"{v}.5": ""})
    assert wrong.status_code == 422
    assert "at least 1" in wrong.content.decode() or "required" in wrong.content.decode()
    assert form_of(wrong)[f"{v}.7.0"] == ["Main Street 1"]
    assert not Vote.objects.exists()
    assert desk.send(choice="answer", **filled).status_code == 302
    finished(desk)
    assert agents.RECEIVED == [
        {
            "count": 7,
            "price": 12.5,
            "express": False,
            "when": "2026-12-24",
            "mail": "ada@example.com",
            "size": 42,
            "notes": ["fragile"],
            "address": {"street": "Main Street 1"},
        }
    ]
    assert type(agents.RECEIVED[0]["count"]) is int


def test_a_row_more_is_asked_for_without_deciding_anything(desk):
    desk = desk("typed_dict")
    notes = f"{desk.token()}.v.6"
    page = desk.send(add=notes, **{f"{notes}.0": "one", "comment": "Hm."})
    assert page.status_code == 200
    assert form_of(page)[f"{notes}.rows"] == ["3"]
    assert form_of(page)[f"{notes}.0"] == ["one"]
    assert form_of(page)["comment"] == ["Hm."]
    assert not Vote.objects.exists()


def test_a_python_type_receives_its_own_object(desk):
    desk = desk("typed_model")
    v = f"{desk.token()}.v"
    wrong = desk.send(choice="answer", **{f"{v}.0": "0", f"{v}.0.0.1": "12", f"{v}.1": "5"})
    assert wrong.status_code == 422
    assert "must have the form" in wrong.content.decode()
    assert (
        desk.send(
            choice="answer", **{f"{v}.0": "1", f"{v}.0.1.1": "30", f"{v}.1": "500"}
        ).status_code
        == 302
    )
    finished(desk)
    assert [agents.Payment(by=agents.Invoice(way="invoice", days=30), cents=500)] == agents.RECEIVED


def test_an_answer_that_the_type_itself_refuses_can_be_asked_again(desk):
    desk = desk("typed_validator")
    number = f"{desk.token()}.v.0"
    assert desk.send(choice="answer", **{number: "13"}).status_code == 302
    drive(desk.run)
    run = now(desk.run)
    assert (run.status, run.park_reason) == ("parked", "bad_answer")
    assert "no lucky number" in run.park_detail
    assert agents.RECEIVED == []
    controls.ask_again(run.pk, actor=Actor.command("test"), reason="13")
    drive(run)
    number = f"{desk.token()}.v.0"
    assert desk.send(choice="answer", **{number: "7"}).status_code == 302
    drive(run)
    assert now(run).status == "succeeded"
    (got,) = agents.RECEIVED
    assert got == agents.Lucky(number=7)


@pytest.mark.parametrize(("text", "value"), [("true", True), ("false", False)])
def test_no_is_an_answer(desk, text, value):
    desk = desk("typed_bool")
    assert desk.send(choice="answer").status_code == 422
    assert desk.send(choice="answer", **{f"{desk.token()}.v": text}).status_code == 302
    finished(desk)
    assert [value] == agents.RECEIVED


def test_a_typed_question_has_no_button_to_reject(desk):
    desk = desk("typed_bool")
    assert offered(desk.page(), "verdict") == []
    assert desk.send(verdict="rejected", comment="No.").status_code == 422
    assert not Vote.objects.exists()


# --- ours and plain -------------------------------------------------------------------------------


@pytest.mark.parametrize(("verdict", "value"), [("approved", True), ("rejected", False)])
def test_a_plain_question_receives_true_or_false(desk, verdict, value):
    desk = desk("plain")
    assert desk.send(verdict=verdict, comment="Because.").status_code == 302
    finished(desk)
    assert [value] == agents.RECEIVED


@pytest.mark.parametrize(("verdict", "truth"), [("approved", True), ("rejected", False)])
def test_a_question_of_ours_receives_its_verdict(desk, verdict, truth):
    desk = desk("ours")
    assert desk.send(verdict=verdict, comment="Because.").status_code == 302
    assert finished(desk)["got"] == [verdict, truth, {"cents": 60_000}]
    (answer,) = agents.RECEIVED
    assert (answer.comment, answer.by) == ("Because.", "Ben")


def test_a_question_of_ours_receives_changed_arguments(desk):
    desk = desk("ours")
    cents = desk.field("Cents")
    desk.send(choice="edit", **{cents: "50000"})
    desk.send("Eve", choice="edit")
    assert finished(desk)["got"] == ["approved", True, {"cents": 50_000}]
    page = desk.clients["Ben"].get(reverse("approvals:review", args=[Request.objects.get().pk]))
    assert "Approved with changes" in page.content.decode()


# --- what a policy hides --------------------------------------------------------------------------


@pytest.mark.parametrize("agent", ["batched", "batched_one", "per_call", "inbox"])
def test_who_may_not_see_a_value_may_still_decide_about_it(desk, agent, settings):
    settings.APPROVALS_DEFAULT = settings.APPROVALS_DEFAULT | {"masked": ["args.to: treasury"]}
    desk = desk(agent)
    if agent == "inbox":  # LangChain's descriptions have the arguments in them
        assert MAIL["to"] not in desk.page().content.decode()
    assert "edit" not in offered(desk.page(), "choice")
    if agent == "batched":
        chosen = {desk.token(0): "approve", desk.token(1): "approve"}
        assert desk.send(choice="send", **chosen).status_code == 302
    else:
        assert desk.send(verdict="approved").status_code == 302
    finished(desk)
    sent = [args for name, args in agents.CALLS if name == "send_email"]
    received = [each[0]["args"]["args"] for each in agents.RECEIVED]
    assert [*sent, *received] == [MAIL]
