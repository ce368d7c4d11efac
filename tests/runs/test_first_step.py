"""The first step of an @entrypoint runs only once its checkpoint is saved."""

from __future__ import annotations

import time
from datetime import timedelta
from typing import Any

import pytest
from langgraph.func import entrypoint, task

from ledger.models import Effect
from ledger.outcomes import Outcome
from ledger.tools import Idempotency, effect
from runs import killpoints, status
from tests.runs.conftest import checkpoints_of, now

seen: list[str] = []


@effect("tests.pay_first", idempotency=Idempotency.PROVIDER, window=timedelta(hours=1))
def pay_first(order: str, *, idempotency_key: str) -> Outcome:
    seen.append(idempotency_key)
    return Outcome.success("ref", {"paid": order})


@task
def pays(order: str) -> Any:
    return pay_first(order=order)


@entrypoint()
def pays_at_once(given: dict[str, str]) -> Any:
    return {"receipt": pays(given["order"]).result()}


@entrypoint()
async def pays_at_once_async(given: dict[str, str]) -> Any:
    return {"receipt": await pays(given["order"])}


GRAPHS = {"pays_at_once": pays_at_once, "pays_at_once_async": pays_at_once_async}


@pytest.mark.parametrize("name", GRAPHS)
def test_an_effect_of_the_first_step_waits_until_its_checkpoint_is_saved(
    start, drive, name
) -> None:
    seen.clear()
    run = start(name, {"order": "7"}, graph=GRAPHS[name])

    def lost(place: str, _: str) -> None:
        if place == "saver.put":
            killpoints.install(None)
            time.sleep(0.5)  # time enough for a first step that does not wait
            raise ConnectionError("the database is gone")

    killpoints.install(lost)
    assert drive(run) is status.Outcome.RAISED
    assert seen == []
    assert checkpoints_of(run) == []
    assert drive(run, "w2") is status.Outcome.FINISHED
    assert now(run).output == {"receipt": {"paid": "7"}}
    assert Effect.objects.filter(run=run).count() == len(seen) == 1
