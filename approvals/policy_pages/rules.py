"""Policies as the pages show them."""

from __future__ import annotations

from dataclasses import dataclass

from django.utils.translation import gettext as _

from approvals import policy
from approvals.electorate import deciders
from approvals.eligibility import Person
from approvals.policies import lengths
from approvals.policies.rule import Policy
from approvals.policy import Book, Excluded, Gate, OnDeadline, Risk


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """One policy as the pages show it."""

    policy: Policy
    default: bool
    gate: Gate
    lapse: str
    able: int
    """How many people may decide by it."""
    besides: tuple[tuple[str, str], ...]
    """What else it says, as heading and words."""

    @property
    def possible(self) -> bool:
        """Enough of them, even if one of them is the requester."""
        return self.able >= self.policy.quorum


def of_book(book: Book) -> list[Rule]:
    """All policies in force."""
    able = deciders()
    return [of(each, able, default=each is book.policies[-1]) for each in book.policies]


def of(one: Policy, able: tuple[Person, ...], *, default: bool) -> Rule:
    """One of them; `able`: everybody who may decide anything."""
    gate = policy.together(one)
    return Rule(
        policy=one,
        default=default,
        gate=gate,
        lapse=OnDeadline(one.on_deadline).label,
        able=sum(
            all(who.admits(person.groups, person.address) for who in gate.who) for person in able
        ),
        besides=tuple(_besides(one)),
    )


def _besides(one: Policy) -> list[tuple[str, str]]:
    """What a policy says that has no column of its own."""
    said: list[tuple[str, str]] = []
    if one.risk != Risk.NORMAL:
        said.append((_("Risk"), Risk(one.risk).label))
    if one.bulk:
        said.append((_("Many at once"), _("identical questions may be approved together")))
    if one.reauthenticate_within:
        what = _("Passkey") if one.passkey else _("Proof of identity")
        said.append(
            (
                what,
                _("not older than {value}").format(value=lengths.told(one.reauthenticate_within)),
            )
        )
    needs = [
        word
        for word, needed in (
            (_("rejection"), one.comment_required_to_reject),
            (_("approval"), one.comment_required_to_approve),
        )
        if needed
    ]
    if needs:
        said.append((_("Comment"), _("needed for {deeds}").format(deeds=_(" and ").join(needs))))
    said += [
        (label, ", ".join(map(str, parts)))
        for label, parts in (
            (_("Reasons to reject"), one.reject_reasons),
            (
                _("Reminders"),
                [_("{value} before").format(value=lengths.told(each)) for each in one.reminders],
            ),
            (
                _("Escalation"),
                [
                    _("{group} after {value}").format(
                        group=each.group, value=lengths.told(each.after)
                    )
                    for each in one.escalation
                ],
            ),
            (_("May be changed"), one.editable),
            (_("Read first"), one.key_facts),
            (_("Masked"), one.masked),
        )
        if parts
    ]
    excluded = [Excluded(each).label for each in one.excluded] if one.four_eyes else []
    if set(one.excluded) != set(Excluded.values) or not one.four_eyes:
        said.append((_("May not approve"), ", ".join(excluded) or _("nobody is excluded")))
    return said
