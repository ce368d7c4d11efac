"""Trying a payload changes nothing and shows exactly what a decision would send."""

from __future__ import annotations

import json
from html import unescape
from typing import Any

import pytest

from accounts.models import User
from approvals.models import Decision, Request, Vote
from audit.models import Entry
from runs.models import Run
from tests.approvals.conftest import ours
from tests.approvals.test_shapes import CALL, CALL_SCHEMA, INBOX, MAIL, batched
from tests.support.people import person
from tests.support.posting import control, form_of, offered
from tests.support.web import html_of, text_of

ALL = ["approve", "edit", "reject", "respond"]


@pytest.fixture
def olga(db: None) -> User:
    return person("Olga", "operator")


@pytest.fixture
def pasted(client, olga):
    """What the page says of a payload."""
    client.force_login(olga)

    def pasted(payload: object, schema: object = None, editable: str = "") -> Any:
        sent = {
            "payload": json.dumps(payload),
            "schema": "" if schema is None else json.dumps(schema),
            "editable": editable,
        }
        return client.post("/approvals/try/", sent)

    return pasted


def pressed(client, page: Any, **filled: Any) -> Any:
    form = {name: values for name, values in form_of(page).items() if values != [""]}
    return client.post("/approvals/try/", form | filled)


def resume(page: Any) -> Any:
    found = html_of(page).split('aria-label="Resume JSON"><code>', 1)[1].split("</code>", 1)[0]
    return json.loads(unescape(found))["<interrupt id>"]


@pytest.mark.parametrize(
    ("payload", "schema", "shape", "received"),
    [
        (ours(), None, "Signalbox question", None),
        ("May I?", None, "Plain payload", True),
        (INBOX, None, "Agent Inbox", [{"type": "accept", "args": INBOX["action_request"]}]),
        (CALL, CALL_SCHEMA, "LangChain tool call", {"type": "approve"}),
        (batched(ALL), None, "LangChain list", {"decisions": [{"type": "approve"}]}),
    ],
)
def test_a_payload_shows_its_shape_and_the_answer_to_it(
    client, pasted, payload, schema, shape, received
):
    page = pasted(payload, schema)
    assert shape in text_of(page)
    found = resume(pressed(client, page, verdict="approved"))
    assert found == received or found["decision"] == "approved"


def test_a_typed_answer_is_shown_as_json_and_errors_at_their_field(client, pasted):
    page = pasted("How many?", {"type": "integer", "minimum": 1})
    (name,) = (each for each in form_of(page) if each.endswith(".v"))
    wrong = pressed(client, page, choice="answer", **{name: "0"})
    assert wrong.status_code == 422
    assert "at least 1" in text_of(wrong)
    assert "Resume JSON" not in html_of(wrong)
    assert resume(pressed(client, page, choice="answer", **{name: "3"})) == 3


def test_a_batch_and_a_change_are_tried_as_well(client, pasted):
    page = pasted(batched(ALL, ["reject"], args=MAIL), editable="copies, other")
    first, second = (each for each in offered_names(page) if len(each) == 16)
    assert offered(page, first) == ALL
    copies = control(page, "Copies")
    answer = resume(
        pressed(client, page, choice="send", **{first: "edit", second: "reject", copies: "5"})
    )
    assert answer["decisions"][0]["edited_action"]["args"] == MAIL | {"copies": 5}
    assert answer["decisions"][1] == {"type": "reject"}


def offered_names(page: Any) -> list[str]:
    names = [part.split('"')[0] for part in html_of(page).split('type="radio" name="')[1:]]
    return list(dict.fromkeys(names))


@pytest.mark.parametrize("payload", ["{", "NaN", '{"a": 1, "a": 2}', ""])
def test_what_is_not_json_is_told(client, olga, payload):
    client.force_login(olga)
    response = client.post("/approvals/try/", {"payload": payload})
    assert response.status_code == 422
    assert "Resume JSON" not in html_of(response)


def test_a_question_that_nobody_could_answer_is_told(pasted):
    text = text_of(pasted({"type": "tool_approval", "name": "a", "args": {}}))
    assert "It lacks the schema" in text


def test_hostile_text_stays_text(pasted):
    html = html_of(pasted({"question": '<img src=x onerror="a">\u202e</textarea><script>'}))
    assert "<img src=x" not in html
    assert "<script>" not in html
    assert "\\u{202E}" in html


def test_nothing_is_stored(client, pasted):
    before = Entry.objects.count()
    pressed(client, pasted(INBOX), verdict="approved")
    for model in (Request, Vote, Decision, Run):
        assert not model.objects.exists()
    assert Entry.objects.count() == before


@pytest.mark.parametrize("who", ["Ben", "Cy", "Dee"])
def test_it_is_for_those_who_run_agents(client, db, who):
    client.force_login(person(who))
    assert client.get("/approvals/try/").status_code == 403
    assert client.post("/approvals/try/", {"payload": "1"}).status_code == 403
