"""Replies that do not fit are refused where they were typed, and nothing poisons the thread.

What every decision that fits gives its node is in tests.pages.test_every_decision.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from accounts.actors import Actor
from approvals import replies, shapes
from approvals.electorate import gate_of
from approvals.models import Decision, Request, Vote
from runs import checkpoints, controls
from runs.models import Run
from tests.approvals.conftest import now
from tests.support import agents, driven
from tests.support.driven import drive
from tests.support.people import person
from tests.support.posting import control, form_of, offered
from tests.support.replies import REPLIES, Reply

pytestmark = pytest.mark.django_db(transaction=True)
MAIL = agents.MAIL


@pytest.fixture(autouse=True)
def listening(monkeypatch, transactional_db) -> Iterator[None]:
    with driven.agents_listened_to(monkeypatch):
        yield


@pytest.fixture(scope="module", autouse=True)
def connections_end(django_db_setup: None) -> Iterator[None]:
    yield
    checkpoints.close()


@pytest.fixture
def start(settings) -> Callable[..., Run]:
    """A run of one of the agents, driven until it asks."""

    def start(name: str, **policy: object) -> Run:
        driven.policy(settings, **policy)
        return driven.start(settings, name)

    return start


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
def desk(start) -> Callable[..., Desk]:
    def desk(name: str, **policy: object) -> Desk:
        return Desk(start(name, **policy))

    return desk


# --- which decisions there are --------------------------------------------------------------------


@pytest.mark.parametrize("agent", ["batched_one", "per_call", "inbox"])
def test_every_decision_that_is_allowed_is_offered_and_clicked(desk, agent):
    desk = desk(agent)
    request = desk.request
    (action,) = shapes.actions(replies.asked(request, gate_of(request)))
    clicked = {_kind(reply) for reply in REPLIES if reply.agent == agent}
    assert {choice.key for choice in action.choices} == clicked
    assert len(clicked) == 4


def _kind(reply: Reply) -> str:
    """The type of the only decision that the node is to receive."""
    got: Any = reply.received
    if isinstance(got, dict):
        got = got.get("decisions", got)
    (one,) = got if isinstance(got, list) else [got]
    return str(one["type"])


def test_each_call_of_a_batch_is_offered_its_own_decisions(desk):
    desk = desk("batched")
    assert offered(desk.page(), desk.token(0)) == ["approve", "edit", "reject", "respond"]
    assert offered(desk.page(), desk.token(1)) == ["approve", "reject"]


# --- LangChain and Agent Inbox --------------------------------------------------------------------


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


# --- typed ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("place", "text", "says"), [(0, "0", "at least 1"), (5, "", "This is required.")]
)
def test_a_json_schema_is_held_to_although_langgraph_does_not(desk, place, text, says):
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
    wrong = desk.send(choice="answer", **filled | {f"{v}.{place}": text})
    assert wrong.status_code == 422
    assert says in wrong.content.decode()
    assert form_of(wrong)[f"{v}.7.0"] == ["Main Street 1"]
    assert not Vote.objects.exists()


def test_a_row_more_is_asked_for_without_deciding_anything(desk):
    desk = desk("typed_dict")
    notes = f"{desk.token()}.v.6"
    page = desk.send(add=notes, **{f"{notes}.0": "one", "comment": "Hm."})
    assert page.status_code == 200
    assert form_of(page)[f"{notes}.rows"] == ["3"]
    assert form_of(page)[f"{notes}.0"] == ["one"]
    assert form_of(page)["comment"] == ["Hm."]
    assert not Vote.objects.exists()


def test_a_python_type_is_held_to_before_langgraph_sees_the_answer(desk):
    desk = desk("typed_model")
    v = f"{desk.token()}.v"
    wrong = desk.send(choice="answer", **{f"{v}.0": "0", f"{v}.0.0.1": "12", f"{v}.1": "5"})
    assert wrong.status_code == 422
    assert "must have the form" in wrong.content.decode()
    assert not Vote.objects.exists()


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


def test_a_typed_question_is_answered_or_left_and_not_rejected(desk):
    desk = desk("typed_bool")
    assert desk.send(choice="answer").status_code == 422
    assert offered(desk.page(), "verdict") == []
    assert desk.send(verdict="rejected", comment="No.").status_code == 422
    assert not Vote.objects.exists()


# --- what a policy hides --------------------------------------------------------------------------


@pytest.mark.parametrize("agent", ["batched", "batched_one", "per_call", "inbox"])
def test_who_may_not_see_a_value_may_still_decide_about_it(desk, agent):
    desk = desk(agent, masked=["args.to: treasury"])
    if agent == "inbox":  # LangChain's descriptions have the arguments in them
        assert MAIL["to"] not in desk.page().content.decode()
    assert "edit" not in offered(desk.page(), "choice")
    if agent == "batched":
        chosen = {desk.token(0): "approve", desk.token(1): "approve"}
        assert desk.send(choice="send", **chosen).status_code == 302
    else:
        assert desk.send(verdict="approved").status_code == 302
    assert Decision.objects.count() == 1
    drive(desk.run)
    assert now(desk.run).status == "succeeded", now(desk.run).park_detail
    sent = [args for name, args in agents.CALLS if name == "send_email"]
    if agent == "inbox":
        sent = [each[0]["args"]["args"] for each in agents.RECEIVED]
    assert sent == [MAIL]
