"""What can be decided together: the requests that wait for somebody, as rows and by kind.

A constant number of queries, however many there are.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from accounts.models import User
from accounts.speech import later as _
from approvals import amounts, details, gates, glance, policy, queries, replies, shapes
from approvals.amounts import Amount
from approvals.bulk import kinds
from approvals.bulk.kinds import Kind
from approvals.models import Request
from approvals.policies import masks
from approvals.policy import Gate, Risk
from approvals.queries import Row
from approvals.status import STATES, Verdict

MOST = 200
"""Requests on one page."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Item:
    """One request as a row of the page on which many are decided."""

    request: Request
    gate: Gate
    kind: Kind
    token: str
    """Of this item of this form; a new one each time the page is shown."""
    amount: Amount | None
    values: tuple[tuple[str, str], ...]
    """What the row shows besides the title: what is to be read first, then the rest."""
    more: bool
    """There is more than a row can show."""
    why_not: dict[str, str]
    """By verdict: why it cannot be given together with others; empty if it can."""

    @property
    def sent(self) -> str:
        """What its box sends: this request, as shown, from this form."""
        return f"{self.request.pk}.{self.request.digest}.{self.token}"

    @property
    def risk(self) -> str:
        """Where it is not the usual one."""
        return "" if self.gate.risk == Risk.NORMAL else Risk(self.gate.risk).label


@dataclass(frozen=True, slots=True, kw_only=True)
class Lot:
    """All requests of one kind that wait for somebody."""

    kind: Kind
    items: tuple[Item, ...]
    nearest: datetime

    def able(self, verdict: str) -> int:
        """How many of them can be given this verdict together."""
        return sum(not each.why_not[verdict] for each in self.items)

    @property
    def may_reject(self) -> int:
        return self.able(Verdict.REJECTED)

    @property
    def may_approve(self) -> int:
        return self.able(Verdict.APPROVED)

    @property
    def why_one_by_one(self) -> str:
        """Why none of them can be approved together with others."""
        return self.items[0].why_not[Verdict.APPROVED]


@dataclass(frozen=True, slots=True, kw_only=True)
class Offer:
    """What one page puts to the reader."""

    items: tuple[Item, ...]
    others: tuple[tuple[Item, str], ...] = ()
    """What was chosen and cannot be decided here, with the reason."""
    gone: tuple[tuple[Request, str], ...] = ()
    """What was chosen and does not wait for the reader any more."""
    left: int = 0
    """How many more there are than fit on a page."""


def lots(user: User) -> list[Lot]:
    """What waits for this person, by kind; the kinds with the most requests first."""
    found: dict[Kind, list[Item]] = {}
    for item in _items(queries.needs(user), user):
        found.setdefault(item.kind, []).append(item)
    made = [
        Lot(kind=kind, items=tuple(items), nearest=min(each.request.deadline for each in items))
        for kind, items in found.items()
    ]
    return sorted(made, key=lambda lot: (-len(lot.items), lot.nearest, lot.kind.token))


def of_kind(user: User, verdict: str, token: str) -> Offer:
    """All of one kind that wait for this person, up to MOST, the most urgent first."""
    rows = _items(queries.whole(queries.needs(user)), user)
    return _offer([each for each in rows if each.kind.token == token], verdict)


def picked(user: User, verdict: str, ids: Collection[UUID]) -> Offer:
    """Those that this person has chosen, up to MOST, the most urgent first."""
    rows = queries.whole(row for row in queries.needs(user) if row.request.pk in ids)
    offer = _offer(_items(rows, user), verdict)
    missing = set(ids) - {row.request.pk for row in rows}
    gone = queries.visible_to(user).filter(pk__in=missing).select_related("run")
    return Offer(
        items=offer.items,
        others=offer.others,
        left=offer.left,
        gone=tuple((each, STATES[each.status].sentence) for each in gone.order_by("pk")[:MOST]),
    )


def gates_of(user: User, ids: Collection[UUID]) -> list[Gate]:
    """What must be satisfied by verdicts on those of these requests that this person may see."""
    book = policy.in_force()
    found = queries.visible_to(user).filter(pk__in=ids).select_related("run")
    return [gates.of(each, book) for each in found]


def _offer(items: list[Item], verdict: str) -> Offer:
    """Approving, the first that can be approved says of which kind all must be."""
    able = [each for each in items if not each.why_not[verdict]]
    others = [(each, each.why_not[verdict]) for each in items if each.why_not[verdict]]
    if verdict == Verdict.APPROVED and able:
        first = able[0].kind
        others += [(each, OTHER_KIND) for each in able if each.kind != first]
        able = [each for each in able if each.kind == first]
    return Offer(
        items=tuple(able[:MOST]), others=tuple(others[:MOST]), left=max(0, len(able) - MOST)
    )


OTHER_KIND = _("It is of another kind than the first one chosen.")


def _items(rows: Iterable[Row], user: User) -> list[Item]:
    groups = frozenset(user.groups.values_list("name", flat=True))
    return [_item(row.request, row.gate, groups) for row in rows if row.gate is not None]


def _item(request: Request, gate: Gate, groups: frozenset[str]) -> Item:
    hides = masks.for_reader(gate.masked, groups)
    shown = masks.cover(request.payload, hides, root="payload").value
    question = shapes.describe(request.shape, shown)
    held = glance.values(request, shown)
    amount = amounts.of(question.args)
    return Item(
        request=request,
        gate=gate,
        kind=kinds.of(request, question.tool),
        token=details.form_token(),
        amount=amount,
        values=tuple(_values(held or {}, amount, _first(request, shown))),
        more=held is None,
        why_not={
            Verdict.APPROVED: glance.why_open(request, gate, groups),
            Verdict.REJECTED: replies.why_not(request, gate, Verdict.REJECTED),
        },
    )


def _first(request: Request, shown: object) -> dict[str, object]:
    """What the policies want to be read first, by name or path."""
    actions = gates.subjects(request.run.agent, request.node, request.shape, shown)
    found = gates.key_facts(gates.then(request), actions)
    return {path.removeprefix("args."): value for path, value in found}


def _values(
    held: Mapping[str, object], amount: Amount | None, first: Mapping[str, object]
) -> Iterator[tuple[str, str]]:
    for name, value in {**first, **held}.items():
        if amount is None or name not in (*amounts.MINOR, "currency"):
            yield (
                name.replace("_", " "),
                value if isinstance(value, str) else json.dumps(value, ensure_ascii=False),
            )
