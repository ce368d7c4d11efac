"""No page shows a character that deceives: what agents and people wrote is made visible first."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pytest

import approvals
from approvals.models import Request
from ledger import stops
from ledger.models import Effect
from runs.models import Run
from tests.runs.conftest import SHELL, checkpoints_of, doubt
from tests.support import graphs
from tests.support.people import person

BAD = '<img src=x>\u202eevil"\u200b\u2066{{ 1 }}'
INVISIBLE = re.compile("[\u200b\u202e\u2066]|<img src=x")


@pytest.fixture
def places(start: Callable[..., Run], drive: Callable[..., object]) -> list[str]:
    """Every page that shows what an agent, its author or a person has named in a bad way."""

    def asks(_: object) -> dict[str, Any]:
        approvals.ask(BAD, tool="bank.pay", args={"x": BAD, BAD: 1}, facts={BAD: BAD}, why=BAD)
        return {}

    def fails(_: object) -> None:
        raise ValueError(BAD)

    graph = graphs.chain(**{BAD: graphs.plain("x"), f"gate {BAD}": asks})
    asked = start("asks", {"a": BAD, BAD: 1}, graph=graph, label=BAD, title=BAD)
    drive(asked, holder=BAD, cause=BAD)
    failed = start("fails", graph=graphs.chain(only=fails), label=BAD, title=BAD)
    drive(failed, holder=BAD, cause=BAD)
    effect = doubt(failed)
    Effect.objects.filter(pk=effect.pk).update(
        tool=BAD, args={BAD: BAD}, error=BAD, provider_ref=BAD, step=BAD
    )
    stop = stops.set("tool", BAD, actor=SHELL, reason=BAD)
    stops.set("agent", "asks", actor=SHELL, reason=BAD)
    request = Request.objects.get(run=asked)
    of_runs = [
        f"/runs/{run.pk}/{tail}"
        for run in (asked, failed)
        for tail in [
            *("", "state/", "state/?reveal=1", "audit/", "effects/", "approvals/"),
            *("cancel/", "retry/", "resume/", "ask-again/"),
            *(f"checkpoints/{saved}/" for saved in checkpoints_of(run)),
        ]
    ]
    return [
        *("/", "/runs/", "/runs/new/", "/runs/new/?agent=asks", "/workers/", "/audit/", "/me/"),
        *("/approvals/", "/approvals/?view=pending", "/approvals/?view=decided"),
        *(f"/approvals/{request.pk}/", "/approvals/policies/"),
        *("/ledger/", f"/ledger/{effect.uid}/", f"/ledger/{effect.uid}/settle/"),
        *("/ledger/stops/", f"/ledger/stops/{stop.pk}/lift/"),
        *of_runs,
    ]


@pytest.mark.parametrize("fragment", [False, True], ids=["page", "fragment"])
def test_no_page_shows_a_hidden_or_deceiving_character(client, places, fragment) -> None:
    client.force_login(person("Rut", last_name=BAD))
    headers = {"HX-Request": "true"} if fragment else {}
    shown: dict[str, str] = {}
    answers: set[int] = set()
    for place in places:
        response = client.get(place, headers=headers)
        answers.add(response.status_code)
        # What a form sends back stays as it is.
        text = re.sub(r"\bvalue=\"[^\"]*\"", "", response.text)
        if found := INVISIBLE.search(text):
            shown[place] = ascii(text[max(found.start() - 120, 0) : found.end()])
    assert shown == {}
    assert 200 in answers
    assert max(answers) < 500
