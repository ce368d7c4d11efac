"""Lists of who is called on, while requests and the policies for them change at once.

Whoever changes something says so before and after. Of what stayed as it is while a list was read,
the list must be exactly right.
"""

from __future__ import annotations

import itertools
import threading
from collections import Counter
from collections.abc import Iterator
from functools import partial
from random import Random
from typing import NamedTuple
from uuid import UUID

import pytest

from accounts import clock
from accounts.models import User
from approvals import light, queries
from approvals.models import PolicyVersion, Request
from approvals.policy import Policy
from tests.support import scenes
from tests.support import standing as make
from tests.support.processes import until
from tests.support.threads import working

pytestmark = [pytest.mark.race, pytest.mark.django_db(transaction=True)]

READERS, WRITERS = 2, 2
EACH = 8
"""Requests of each writer."""
FAIR = 50
"""Each answer is compared at least so often."""
GROUPS = ("finance", "legal")
"""Ben is in the first."""


class Said(NamedTuple):
    group: str
    """Which a policy calls on; empty: the request is gone."""
    number: int
    """No two changes have the same."""


class World:
    def __init__(self, ben: User, requests: list[Request]) -> None:
        self.ben = ben
        self.book: Said | None = None
        """The policies in force; None while they change."""
        self.asked: dict[UUID, Said | None] = {}
        """The policy of each request; None while it changes."""
        self.over = threading.Event()
        self.compared: Counter[bool] = Counter()
        self.numbers = itertools.count(1)
        self.set_book(GROUPS[0])
        for each in requests:
            self.set(each, GROUPS[0])

    def set_book(self, group: str) -> None:
        self.book, said = None, Said(group, next(self.numbers))
        stored = Policy(name="default", group=group).stored()
        PolicyVersion.objects.create(number=said.number, policies=[stored], at=clock.now())
        self.book = said

    def set(self, asked: Request, group: str) -> None:
        was, said = self.asked.get(asked.pk), Said(group, next(self.numbers))
        self.asked[asked.pk] = None
        if not group:
            Request.objects.filter(pk=asked.pk)._raw_delete(Request.objects.db)
        else:
            asked.policy = Policy(name="refunds", group=group).stored()
            asked.title = str(said.number)
            asked.save(force_insert=bool(was and not was.group))
        self.asked[asked.pk] = said

    def change(self, seed: int, mine: list[Request]) -> None:
        random = Random(seed)  # noqa: S311
        while not self.over.is_set():
            self.set(random.choice(mine), random.choice([*GROUPS, *GROUPS, ""]))

    def change_book(self) -> None:
        for group in itertools.cycle(GROUPS):
            if self.over.wait(0.2):
                break
            self.set_book(group)

    @property
    def enough(self) -> bool:
        return min(self.compared[True], self.compared[False]) >= FAIR

    def read(self) -> None:
        while not self.over.is_set():
            self.compared.update(self.compare())

    def compare(self) -> Iterator[bool]:
        book, asked = self.book, dict(self.asked)
        listed = {row.request.pk: row.request.title for row in queries.needs(self.ben)}
        if book is None or self.book is not book:
            return
        for pk, said in asked.items():
            if said is not None and self.asked[pk] is said:
                mine = book.group == said.group == GROUPS[0]
                assert listed.get(pk) == (str(said.number) if mine else None), (book, said)
                yield mine


def asked() -> Request:
    made = scenes.question(make.run(status="waiting"), scenes.Clock(hours=1), "t", 0)
    made.groups = [*GROUPS]
    return made


def test_lists_are_right_of_all_that_does_not_change_while_they_are_read(ben: User) -> None:
    light.forget()
    shares = [[asked() for _ in range(EACH)] for _ in range(WRITERS)]
    world = World(ben, [each for share in shares for each in share])
    assert [*world.compare()] == [True] * EACH * WRITERS
    writers = [partial(world.change, number, share) for number, share in enumerate(shares)]
    with working(world.over, *writers, *[world.read] * READERS, world.change_book):
        until(lambda: world.over.is_set() or world.enough, within=60)
    assert len([*world.compare()]) == EACH * WRITERS
