"""Light requests are shared by the threads of a process, and changed by whoever changes requests.

Each request counts its changes, in its own columns and in those of its run. Who has committed one
says so; a reader looks first at what has been said, and then asks.
"""

from __future__ import annotations

import itertools
import operator
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from functools import partial
from random import Random

import pytest
from django.db import connection, transaction

from approvals import light
from approvals.models import Request
from approvals.policy import Policy
from runs.models import Run
from tests.approvals.conftest import together
from tests.support import scenes
from tests.support import standing as make
from tests.support.processes import until
from tests.support.threads import working

pytestmark = [pytest.mark.race, pytest.mark.django_db(transaction=True)]

READERS, WRITERS = 3, 3
EACH = 8
"""Requests of each writer."""
ALL = slice(None)
WAYS = ("read", "clean", "_once", "_twice", "_not", "_anew")
FAIR = 60
"""Each of them does all that it does at least so often."""
Seen = tuple[int, int]
Change = Callable[[Request, int, Seen], Seen]


class World:
    """What has been committed, by its writers' word."""

    def __init__(self, requests: list[Request]) -> None:
        self.said = {each.pk: (0, 0) for each in requests}
        """The last change of each request that is there, and of its run."""
        self.over = threading.Event()
        self.did: Counter[str] = Counter()

    def write(self, seed: int, mine: list[Request]) -> None:
        """Change my requests in all ways, until it is over."""
        random, numbers = Random(seed), itertools.count(1)  # noqa: S311
        while not self.over.is_set():
            asked = random.choice(mine)
            way = random.choice([self._once, self._once, self._twice, self._not, self._anew])
            is_now = way(asked, random.choice([change, change_run]), numbers)
            if random.random() < 0.5:
                assert now(asked) == is_now
            self.said[asked.pk] = is_now
            self.did[way.__name__] += 1

    def _once(self, asked: Request, change: Change, numbers: Iterator[int]) -> Seen:
        return change(asked, next(numbers), self.said[asked.pk])

    def _twice(self, asked: Request, change: Change, numbers: Iterator[int]) -> Seen:
        """In between, the transaction reads what it has written."""
        with transaction.atomic():
            first = change(asked, next(numbers), self.said[asked.pk])
            assert now(asked) == first
            return change(asked, next(numbers), first)

    def _not(self, asked: Request, change: Change, numbers: Iterator[int]) -> Seen:
        """The transaction reads what it has written, and takes it back."""
        with transaction.atomic():
            changed = change(asked, -next(numbers), self.said[asked.pk])
            assert now(asked) == changed
            transaction.set_rollback(True)
        return self.said[asked.pk]

    def _anew(self, asked: Request, _: Change, numbers: Iterator[int]) -> Seen:
        """Deleted, and made anew under its old id."""
        was = self.said.pop(asked.pk)
        Request.objects.filter(pk=asked.pk)._raw_delete(Request.objects.db)
        assert now(asked) is None
        with transaction.atomic():
            asked.save(force_insert=True)
            return change(asked, next(numbers), was)

    @property
    def enough(self) -> bool:
        return min(self.did[way] for way in WAYS) >= FAIR

    def clean(self) -> None:
        """Have PostgreSQL use the places of old rows again."""
        while not self.over.wait(0.02):
            with connection.cursor() as cursor:
                cursor.execute("VACUUM approvals_request, runs_run")
            self.did["clean"] += 1

    def read(self, seed: int) -> None:
        """Nothing is older than what had been said before, nor was it taken back."""
        random = Random(seed)  # noqa: S311
        while not self.over.is_set():
            said = dict(self.said)
            said = {pk: said[pk] for pk in random.sample(sorted(said), len(said) // 3)}
            listed = Request.objects.filter(pk__in=said).order_by("pk")
            found = {each.pk: seen(each) for each in light.read(listed, ALL)}
            for pk, known in said.items():
                if pk in found:
                    assert all(map(operator.ge, found[pk], known)), (found[pk], known)
                else:
                    assert self.said.get(pk) != known  # it has been deleted meanwhile
            self.did["read"] += 1


def change(asked: Request, number: int, was: Seen) -> Seen:
    policy = Policy(name=str(number), group="finance").stored()
    fields = {"title": str(number), "payload": {"number": number}, "policy": policy}
    Request.objects.filter(pk=asked.pk).update(**fields)
    return number, was[1]


def change_run(asked: Request, number: int, was: Seen) -> Seen:
    Run.objects.filter(pk=asked.run_id).update(agent=str(number))
    return was[0], number


def seen(request: Request) -> Seen:
    """The last change of the request, which all parts of it tell, and of its run."""
    (number,) = {int(request.title), request.payload["number"], int(request.policy["name"])}
    return number, int(request.run.agent)


def now(asked: Request) -> Seen | None:
    found = light.read(Request.objects.filter(pk=asked.pk), ALL)
    return seen(found[0]) if found else None


def asked() -> Request:
    made = scenes.question(make.run(agent="0"), scenes.Clock(hours=1), "t", 0)
    change(made, 0, (0, 0))
    made.refresh_from_db()
    return made


def test_no_thread_gets_a_request_older_than_what_was_committed_before_it_asked() -> None:
    light.forget()
    shares = [[asked() for _ in range(EACH)] for _ in range(WRITERS)]
    world = World([each for share in shares for each in share])
    writers = [partial(world.write, number, share) for number, share in enumerate(shares)]
    readers = [partial(world.read, number) for number in range(READERS)]
    with working(world.over, *writers, *readers, world.clean):
        until(lambda: world.over.is_set() or world.enough, within=60)
    found = light.read(Request.objects.all(), ALL)
    assert {each.pk: seen(each) for each in found} == world.said


def test_what_is_not_asked_for_any_more_when_it_is_read_is_not_found() -> None:
    """It went to another group, with other words, after its version was looked at."""
    asked()
    light.forget()

    def and_it_goes(execute: Callable[..., object], *args: object) -> object:
        answer = execute(*args)
        together(lambda: Request.objects.update(groups=["legal"], title="Not theirs"))
        return answer

    with connection.execute_wrapper(and_it_goes):
        assert light.read(Request.objects.filter(groups__overlap=["finance"]), ALL) == []
