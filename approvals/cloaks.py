"""What policies mask, on the pages of runs and effects: the implementation of `runs.ports.Masks`.

1. Who does not see a field on the page of a request does not read it on the pages of its run.
2. There it may stand anywhere: so it is hidden by the end of its path wherever that occurs, and by
   what it is, in other fields and inside of texts as well.
3. The policies of then count for what was asked, and of those in force all that may hold for the
   agent, whatever their conditions.
4. Searches find by what is shown, and by nothing else: `approvals_cloak` says the same for them, in
   the database (migration 0012).
"""

from __future__ import annotations

import fnmatch
import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from uuid import UUID

from django.contrib.postgres.fields import ArrayField
from django.db.models import Expression, F, Func, JSONField, Q, TextField, Value

from accounts.models import User
from approvals import gates, persons, policy
from approvals.models import Request
from approvals.policies import masks
from approvals.policies.steps import Mask
from approvals.policy import Book, Policy
from runs.masking import BARE, Cloak
from runs.models import Run
from runs.ports import Cloaked

SHORTEST = 4
"""Characters of a value that is hidden wherever it occurs. Shorter ones are hidden by their paths:
they would be found in everything."""
SMALLEST = 1000
"""The same for numbers."""


class Masks:
    """See `runs.ports.Masks`."""

    def of_runs(self, run_ids: Collection[UUID], user: User) -> Mapping[UUID, Cloak]:
        book = policy.in_force()
        groups = persons.reader(user).groups
        asked: dict[UUID, list[Request]] = {run_id: [] for run_id in run_ids}
        for request in _asked(run_ids, book):
            asked[request.run_id].append(request)
        agents = Run.objects.filter(pk__in=run_ids).values_list("pk", "agent")
        return {
            run_id: _cloak(_of_agent(book, agent), asked[run_id], groups)
            for run_id, agent in agents
        }

    def anywhere(self, user: User) -> Cloak:
        masked = masks.for_reader(_all(policy.in_force()), persons.reader(user).groups)
        return Cloak(paths=frozenset(map(_named, masked)))

    def cloaked(self, user: User) -> Cloaked:
        book, groups = policy.in_force(), persons.reader(user).groups
        may = [
            (_like(_agents(each, book)), mask.path)
            for each in book.policies
            for mask in masks.for_reader(each.masked, groups)
        ]
        asked = (Value(may, JSONField()), Value(list(groups), ArrayField(TextField())))

        def cloaked(run: str, agent: str) -> Expression:
            return Func(
                F(run), F(agent), *asked, function="approvals_cloak", output_field=TextField()
            )

        return cloaked


def _all(book: Book) -> Iterator[Mask]:
    return (mask for each in book.policies for mask in each.masked)


def _asked(run_ids: Collection[UUID], book: Book) -> Iterable[Request]:
    """The requests in which something may be masked; none, where no policy masks anything."""
    found = Request.objects.filter(run__in=run_ids).select_related("run")
    if any(each.masked for each in book.policies):
        return found
    return found.filter(~Q(policy__masked=[]) | Q(policy__has_key=gates.ALSO))


def _of_agent(book: Book, agent: str) -> list[Mask]:
    return [
        mask
        for each in book.policies
        if fnmatch.fnmatchcase(agent, _agents(each, book))
        for mask in each.masked
    ]


def _agents(each: Policy, book: Book) -> str:
    """The default holds for all."""
    return "*" if each is book.policies[-1] else each.agent


def _like(pattern: str) -> str:
    """What a pattern of `fnmatch` fits, and no less, as a pattern of LIKE."""
    escaped = re.sub(r"[\\%_]", r"\\\g<0>", pattern)
    return re.sub(r"\[(?:!.|[^!])[^]]*\]|\?", "_", escaped.replace("*", "%"))


def _cloak(may: list[Mask], asked: Iterable[Request], groups: frozenset[str]) -> Cloak:
    hiding = list(masks.for_reader(may, groups))
    leaves: list[object] = []
    for request in asked:
        mine = masks.for_reader((*gates.masked_then(request), *may), groups)
        hiding += mine
        leaves += masks.hidden(request.payload, mine, root="payload")
    if not hiding:
        return BARE
    return Cloak(
        paths=frozenset(filter(None, map(_end, hiding))),
        texts=frozenset(_texts(leaves)),
        numbers=frozenset(_numbers(leaves)),
    )


def _end(mask: Mask) -> tuple[str, ...]:
    """How a path ends that leads to what is masked; empty where that says nothing."""
    root, *keys = mask.path.split(".")
    if root == "args" and not keys:
        return ("args",)
    return tuple(keys) if root in ("args", "payload") else ()


def _named(mask: Mask) -> tuple[str, ...]:
    """The same without places in lists, unless nothing else is left."""
    end = _end(mask)
    return tuple(name for name in end if not name.isdecimal()) or end or (mask.path,)


def _texts(leaves: Iterable[object]) -> Iterator[str]:
    return (each for each in leaves if isinstance(each, str) and len(each) >= SHORTEST)


def _numbers(leaves: Iterable[object]) -> Iterator[int | float]:
    for each in leaves:
        if isinstance(each, int | float) and not isinstance(each, bool) and abs(each) >= SMALLEST:
            yield each
