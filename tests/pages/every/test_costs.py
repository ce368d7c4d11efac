"""No page asks the database more questions the more there is to show."""

from __future__ import annotations

import html
import re
from collections.abc import Iterator, Sequence
from typing import Any

import pytest
from django.core.cache import cache
from django.db import connection
from django.test import Client, TransactionTestCase

from approvals import light
from runs import checkpoints
from tests.pages.every import crowd
from tests.pages.every.table import NOBODY, PAGES, Page, page
from tests.pages.every.world import World, built
from tests.support.flush import empty

AREAS = ("runs", "approvals", "ledger", "audit")
OTHERS = ("overview", "saved_views", "go", "me")
COLUMNS = "col=owner&col=version&col=attempts&col=ended"
FILTERED = (
    *(
        page("runs:list", "Ada", query=f"{query}&{COLUMNS}")[0]
        for query in (
            *("status=running", "status=queued", "status=waiting", "status=parked", "status=stuck"),
            *("status=failed", "status=stalled", "owner=me", "since=24h", "agent=refund_desk"),
            *("q=order_id:10382", "q=refund", "version=1.0", "error=Timeout", "size=75"),
        )
    ),
    *(
        page("ledger:list", who, query=query)[0]
        for who, query in (
            *(("Ada", f"status={each}") for each in ("in_doubt", "pending", "failed", "by_hand")),
            *(("Ada", f"status={each}") for each in ("sent", "confirmed")),
            *(("Ada", "person=Ada"), ("Ada", "tool=payments.refund"), ("Ada", "incident=on")),
            *(("Ada", "q=10382"), ("Cy", "q=10382"), ("Ben", "")),
        )
    ),
    *page("runs:list", "Ben"),
    *page("runs:list", "Cy", query="q=order_id:10382"),
    *page("approvals:inbox", "Cy", query="view=pending"),
    *page("approvals:inbox", "Cy", query="view=decided"),
    *page("audit:list", "Ada"),
)
LOOKED_AT = (
    *{
        (each.url, each.who, each.query): each
        for each in reversed(PAGES)
        if each.status == 200
        and each.who != NOBODY
        and (each.url.partition(":")[0] in AREAS or each.url in OTHERS)
    }.values(),
    *FILTERED,
)
"""Of pages that are alike, the first."""


@pytest.fixture(scope="module")
def world(django_db_setup: None, django_db_blocker: Any) -> Iterator[World]:
    with django_db_blocker.unblock(), pytest.MonkeyPatch.context() as patch:
        patch.setattr(TransactionTestCase, "_fixture_teardown", lambda self: None)
        empty()
        cache.clear()
        with built() as world:
            yield world
        checkpoints.close()
        empty()


def costs(world: World, pages: Sequence[Page] = LOOKED_AT) -> dict[str, int]:
    """How many questions each page asks."""
    readers: dict[str, Client] = {}
    for name, user in world.people.items():
        readers[name] = Client()
        readers[name].force_login(user)
    return {str(each): _cost(readers[each.who], each, world) for each in pages}


def _cost(reader: Client, one: Page, world: World) -> int:
    light.forget()
    asked: list[str] = []

    def note(execute: Any, sql: str, *more: Any) -> Any:
        asked.append(sql)
        return execute(sql, *more)

    with connection.execute_wrapper(note):
        answer = reader.get(one.address(world))
    assert answer.status_code == 200, one
    return len(asked)


@pytest.mark.timeout(900)
@pytest.mark.django_db(transaction=True)
def test_every_page_asks_the_same_of_few_and_of_many(world: World) -> None:
    crowd.grow(world, range(1))
    costs(world, LOOKED_AT[::8])  # now it is known what is asked once in a process
    few = costs(world)
    crowd.grow(world, range(1, 5))
    many = costs(world)
    differ = {name: (few[name], many[name]) for name in few if many[name] != few[name]}
    assert not differ, differ


POLL = {"HX-Request": "true"}
LIVE = re.compile(r'data-live="\d+" hx-get="([^"]+)"')


@pytest.mark.django_db(transaction=True)
def test_no_poll_is_answered_with_a_token(world: World) -> None:
    """It is another one each time, and would make each answer a new one."""
    found = []
    for one in LOOKED_AT:
        reader = Client()
        reader.force_login(world.people[one.who])
        page = reader.get(one.address(world)).content.decode()
        found += [
            f"{one}: {address}"
            for address in map(html.unescape, LIVE.findall(page))
            if b"csrfmiddlewaretoken" in reader.get(address, headers=POLL).content
        ]
    assert not found, found
