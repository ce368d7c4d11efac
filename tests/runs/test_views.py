"""Starting a run, and the workers: what the pages answer, to whom."""

from __future__ import annotations

import json
import re

import pytest
from django.urls import reverse

from audit.models import Entry
from runs import registry
from runs.models import Run
from tests.support import standing as make
from tests.support.people import person

pytestmark = pytest.mark.django_db
AGENTS = [
    {
        "name": "refund_desk",
        "label": "Refund desk",
        "graph": "x.y",
        "version": "1.0",
        "title": "Refund order {order_id}",
        "input_schema": {
            "type": "object",
            "required": ["order_id"],
            "properties": {"order_id": {"type": "string", "examples": ["10382"]}},
        },
    },
    {"name": "triage", "label": "Triage", "graph": "x.y", "version": "2.1"},
]


@pytest.fixture(autouse=True)
def agents(settings) -> None:
    settings.RUNS_AGENTS = AGENTS
    registry.declarations.cache_clear()


@pytest.fixture
def ada(client):
    user = person("Ada", last_name="Marsh")
    client.force_login(user)
    return user


def fragment(client, url: str):
    return client.get(url, headers={"HX-Request": "true"})


# --- who may --------------------------------------------------------------------------------------


def test_a_count_of_nothing_wears_no_colour(client, ada) -> None:
    page = client.get("/runs/").content.decode()
    chips = page[page.index('aria-label="Counts"') : page.index("</nav>", page.index("Counts"))]
    assert "tone-neutral" in chips
    assert not re.search("tone-(warn|bad|human|info|ok)", chips)
    make.running()
    assert "tone-info" in client.get("/runs/").content.decode()


@pytest.mark.parametrize("name", ["list", "workers", "new"])
def test_who_may_not_see_runs_is_told_who_can_change_that(client, name) -> None:
    client.force_login(person("Dee"))
    response = client.get(reverse(f"runs:{name}"))
    assert response.status_code == 403
    assert b"runs." in response.content


@pytest.mark.parametrize("name", ["Ben", "Cy"])
def test_approvers_and_auditors_read_but_do_not_start(client, name) -> None:
    client.force_login(person(name))
    response = client.get("/runs/")
    assert response.status_code == 200
    assert b"Start a run" not in response.content
    assert client.get("/runs/new/").status_code == 403


# --- starting one ---------------------------------------------------------------------------------


def start(client, agent: str = "refund_desk", **sent: str):
    return client.post(f"/runs/new/?agent={agent}", {"given": "{}", "token": "form"} | sent)


def test_the_form_starts_from_an_example_of_the_agents_input(client, ada) -> None:
    page = client.get("/runs/new/")
    assert json.loads(page.context["form"]["given"].value()) == {"order_id": "10382"}
    assert client.get("/runs/new/?agent=triage").context["agent"].name == "triage"


def test_a_run_is_started_and_shown(client, ada) -> None:
    response = start(client, given='{"order_id": "7"}', key="order-7")
    run = Run.objects.get()
    assert response.headers["Location"] == f"/runs/{run.pk}/"
    assert (run.title, run.started_by, run.idempotency_key) == ("Refund order 7", ada, "order-7")


def test_sending_the_form_twice_starts_one_run(client, ada) -> None:
    first = start(client, given='{"order_id": "7"}')
    again = start(client, given='{ "order_id": "7" }')
    assert first.headers["Location"] == again.headers["Location"]
    start(client, given='{"order_id": "8"}')
    assert Run.objects.count() == 2


@pytest.mark.parametrize(
    ("sent", "said"),
    [
        ({"given": "{order}"}, "This is not JSON"),
        ({"given": '{"order_id": 7}'}, "order_id must be text; write it in quotes"),
        ({"given": '{"order_id": "7"}', "key": "k" * 300}, "255"),
        ({"given": ""}, "required"),
        pytest.param({"given": "[" * 100_000}, "nested too deep", id="too deep to be read"),
        pytest.param(
            {"given": '{"a":' * 500 + "1" + "}" * 500}, "100 levels", id="too deep to be kept"
        ),
        pytest.param({"given": "1" * 5_000}, "This is not JSON", id="too long a number"),
    ],
)
def test_what_cannot_be_used_is_said_beside_it_and_kept(client, ada, sent, said) -> None:
    response = start(client, **sent)
    assert response.status_code == 422
    page = response.content.decode()
    assert said in page
    assert response.context["form"]["given"].value() == sent["given"]
    assert not Run.objects.exists()


def test_a_key_that_started_another_run_is_refused_beside_the_key(client, ada) -> None:
    start(client, given='{"order_id": "7"}', key="k")
    response = start(client, given='{"order_id": "8"}', key="k")
    assert response.status_code == 409
    assert response.context["form"].errors["key"]


def test_without_any_agent_the_page_says_where_to_add_one(client, ada, settings) -> None:
    settings.RUNS_AGENTS = []
    registry.declarations.cache_clear()
    assert b"RUNS_AGENTS" in client.get("/runs/new/").content


def test_who_may_not_start_is_refused_and_it_is_recorded_nowhere_as_done(client) -> None:
    client.force_login(person("Ben"))
    assert start(client, given='{"order_id": "7"}').status_code == 403
    assert not Run.objects.exists()
    assert not Entry.objects.filter(verb="run.started").exists()
