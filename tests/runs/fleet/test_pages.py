"""The page of the workers, for who operates and for who only looks."""

from __future__ import annotations

import pytest
from django.urls import reverse

from runs.fleet import backlog
from runs.models import Pulse
from runs.status import Park
from tests.support import standing as make
from tests.support.fleet import well, worker
from tests.support.people import person

pytestmark = pytest.mark.django_db


@pytest.fixture
def ada(client):
    user = person("Ada", last_name="Marsh")
    client.force_login(user)
    return user


def read(client) -> str:
    response = client.get(reverse("runs:workers"))
    assert response.status_code == 200
    shown: str = response.content.decode()
    return shown


def test_what_stands_still_comes_behind_the_workers_with_the_way_out(client, ada) -> None:
    well()
    run = make.stuck("Close tickets")
    make.running("Digest")
    make.parked(Park.DEADLINE, "Parked")
    page = read(client)
    assert reverse("runs:resume", args=[run.pk]) in page
    assert "The sweeper hands it to another worker." in page
    assert page.index("worker@alpha") < page.index("Close tickets") < page.index("Digest")
    assert ">Parked<" not in page


def test_of_many_runs_that_stand_still_a_few_are_shown_and_a_link_to_all(client, ada) -> None:
    for number in range(6):
        make.stuck(f"Stuck {number}", created_at=make.ago(minutes=60 - number))
    page = read(client)
    assert [f"Stuck {number}<" in page for number in range(6)] == [True] * 5 + [False]
    assert f'href="{reverse("runs:list")}?attention=1"' in page


def test_who_may_not_resume_is_told_whom_to_ask(client, ada) -> None:
    client.force_login(person("Cy"))
    well()
    make.stuck()
    page = read(client)
    assert "/resume/" not in page
    assert "Ask somebody of the group operator: Ada Marsh." in page


def test_without_workers_the_page_says_how_to_start_one(client, ada) -> None:
    make.stuck()
    page = read(client)
    assert "No worker is running" in page
    assert "celery -A signalbox worker -Q runs" in page
    assert "Nobody drives a run right now" in page
    assert f'href="{reverse("runs:workers")}">See' not in page, "it does not lead to itself"


def test_runs_that_no_worker_knows_say_so_with_the_command(client, ada) -> None:
    well()
    make.run(agent="returns_desk", agent_version="2.0")
    page = read(client)
    assert "No worker knows returns_desk 2.0." in page
    assert backlog.COMMAND in page


def test_workers_that_are_gone_are_folded_away(client, ada) -> None:
    worker("lost@beta", seen_at=make.ago(hours=2))
    worker()
    page = read(client)
    assert page.index("worker@alpha") < page.index('<details class="way"') < page.index("lost@beta")
    assert "1 worker that is gone" in page


def test_beat_that_does_not_tick_is_said_with_what_to_do(client, ada) -> None:
    well()
    assert "Start it." not in read(client)
    Pulse.objects.filter(name="beat").update(at=make.ago(minutes=3))
    page = read(client)
    assert "Without beat nothing is found again that was missed. Start it." in page
    assert "celery -A signalbox beat" in page


def test_who_may_not_see_runs_is_refused(client) -> None:
    client.force_login(person("Dee"))
    assert client.get(reverse("runs:workers")).status_code == 403
