"""Tabs, sessions and fragments around one decision."""

from __future__ import annotations

import re
from operator import add
from pathlib import Path
from typing import Annotated, Any, TypedDict

import pytest
from django.conf import settings as django_settings
from django.test import Client
from langgraph.graph import START, StateGraph

from approvals import ask
from approvals.models import Decision
from tests.scenarios.conftest import form, open_of, page_of, signed_in
from tests.support.people import PASSWORD
from tests.support.web import field, html_of


class State(TypedDict, total=False):
    log: Annotated[list[Any], add]


def gate(_: State) -> Any:
    return {"log": [ask("Go on?").decision]}


NODES: list[Any] = [gate]
GRAPH: Any = StateGraph(State).add_sequence(NODES).add_edge(START, "gate").compile()


@pytest.fixture
def run(start, drive, ben):
    run = start("asks", graph=GRAPH)
    drive(run)
    return run


def test_after_signing_out_and_in_again_in_another_tab_the_old_form_decides_nothing(run, ben):
    """Both tabs share the cookies; the form of the first carries the token of before."""
    request = open_of(run)
    client = Client(enforce_csrf_checks=True)
    client.force_login(ben)
    old = form(client, request, "approved") | {"comment": "Do not lose me."}
    old["csrfmiddlewaretoken"] = field(client.get(page_of(request)), "csrfmiddlewaretoken")

    client.logout()
    sign_in = client.get("/accounts/login/")
    token = field(sign_in, "csrfmiddlewaretoken")
    entered = {"login": ben.email, "password": PASSWORD, "csrfmiddlewaretoken": token}
    assert client.post("/accounts/login/", entered).status_code == 302

    response = client.post(page_of(request), old)
    assert response.status_code == 403
    assert "Session changed" in html_of(response)
    assert "Do not lose me." in html_of(response)
    assert not Decision.objects.exists()

    fresh = form(client, request, "approved")
    fresh["csrfmiddlewaretoken"] = field(client.get(page_of(request)), "csrfmiddlewaretoken")
    assert client.post(page_of(request), fresh).status_code == 302
    assert Decision.objects.get().decider == "Ben"


def test_a_fragment_sent_after_the_session_ended_leads_to_the_sign_in_and_back_and_decides_nothing(
    run, ben
):
    request = open_of(run)
    client = signed_in(ben)
    sent = form(client, request, "approved")
    client.logout()
    address = f"http://testserver{page_of(request)}"
    headers = {"HX-Request": "true", "HX-Current-URL": address}
    response = client.post(page_of(request), sent, headers=headers)
    assert "/accounts/login/?next=" in response["HX-Redirect"]
    back = client.post(response["HX-Redirect"], {"login": ben.email, "password": PASSWORD})
    assert back["Location"] == page_of(request)
    client.get(back["Location"])
    assert not Decision.objects.exists()


def test_no_page_is_streamed():
    """A stream would keep a worker of the web server for as long as somebody looks."""
    root = Path(django_settings.BASE_DIR)
    found = [
        str(file)
        for app in ("signalbox", "approvals", "runs", "ledger", "audit", "accounts")
        for file in (root / app).rglob("*.py")
        if re.search(r"StreamingHttpResponse|text/event-stream", file.read_text())
    ]
    assert found == []


def test_an_unchanged_inbox_is_answered_without_a_body(run, ben):
    client = signed_in(ben)
    first = client.get("/approvals/?view=pending", headers={"HX-Request": "true"})
    tag = first.headers["ETag"]
    again = client.get(
        "/approvals/?view=pending", headers={"HX-Request": "true", "If-None-Match": tag}
    )
    assert (again.status_code, again.content) == (304, b"")
