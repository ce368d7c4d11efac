"""All that is known of what a run would touch: before it goes on, or ends, or is allowed a call."""

from __future__ import annotations

from dataclasses import dataclass, replace

from django.urls import reverse
from django.utils.translation import gettext as _

from accounts.models import User
from accounts.speech import later
from audit.models import ClockTimestamp
from ledger.inventory import boxes
from ledger.inventory.boxes import Offered
from ledger.models import Effect
from ledger.preview import elsewhere, found, holds, kinds
from ledger.preview.found import Found
from ledger.preview.holds import Holds
from ledger.status import DONE
from runs.models import Lease, Run
from runs.status import State
from runs.story import Ahead, Touch, phrase, told

SEE = "ledger.view_effect"
UNKNOWABLE = later("Other calls that this step makes are not known beforehand.")


@dataclass(frozen=True, slots=True, kw_only=True)
class Permit:
    """The one call that an approval would permit."""

    tool: str
    args_hash: str


def of(run: Run, user: User, *, permit: Permit | None = None) -> Ahead:
    """What the run's next step would meet, told to `user`; first what `permit` would allow."""
    offered, held = boxes.offered(), holds.on(run, user)
    meets = found.ahead(run, offered)
    see = user.has_perm(SEE)
    rows = list(meets.rows)
    touches = []
    if permit is not None:
        asked = _permitted(run, permit, rows, offered)
        rows = [row for row in rows if asked.effect is None or row.effect.pk != asked.effect.pk]
        touches.append(asked.touch(held, see=see))
        touches += elsewhere.of(run, permit.tool, permit.args_hash, user)
    touches += [_touch(row, held, see=see) for row in rows]
    return Ahead(
        touches=tuple(touches),
        more=meets.count - len(meets.rows),
        holds=held.notices,
        nothing=_("Nothing that the next step has begun outside is known."),
        unknown=UNKNOWABLE,
    )


def at_the_end(run: Run, user: User) -> Ahead:
    """What ending the run means for its effects."""
    meets, see = found.at_the_end(run), user.has_perm(SEE)
    return Ahead(
        touches=tuple(_touch(row, None, see=see) for row in meets.rows),
        more=meets.count - len(meets.rows),
        nothing=_("This run has done nothing to the outside world so far."),
        unknown=_("A step that is under way may still make a call before the run ends.")
        if run.status == "running"
        else "",
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Asked:
    """What a question is about, with the effect that it is already, if there is one."""

    tool: str
    kind: State
    effect: Effect | None = None
    row: Found | None = None

    def touch(self, held: Holds, *, see: bool) -> Touch:
        made = _touch(self.row, held, see=see) if self.row else _plain(self, held, see=see)
        return replace(made, asked=True)


def _permitted(run: Run, permit: Permit, rows: list[Found], offered: Offered) -> _Asked:
    """By what the run has done with just these arguments: the effects at the head come first."""
    same = {"tool": permit.tool, "args_hash": permit.args_hash}
    for row in rows:
        if (row.effect.tool, row.effect.args_hash) == (permit.tool, permit.args_hash):
            return _Asked(tool=permit.tool, kind=row.kind, effect=row.effect, row=row)
    earlier = list(Effect.objects.filter(run=run, **same).order_by("-created_at", "uid")[:20])
    named = next((each for each in earlier if _has_business_key(each)), None)
    if named is not None:
        return _of_named(run, permit, named, offered)
    done = next((each for each in earlier if each.status in DONE), None)
    if done is not None:
        return _Asked(tool=permit.tool, kind=kinds.REPEATED, effect=done)
    return _Asked(tool=permit.tool, kind=kinds.PERMITTED)


def _of_named(run: Run, permit: Permit, effect: Effect, offered: Offered) -> _Asked:
    """The agent calls it by a key of its own, so the same arguments are most likely the same."""
    lease = Lease.objects.annotate(now=ClockTimestamp()).get(pk=run.pk)
    (whole,) = found.with_calls([effect.pk])
    row = found.of(whole, offered, lease, lease.now)
    return _Asked(tool=permit.tool, kind=row.kind, effect=effect, row=row)


def _has_business_key(effect: Effect) -> bool:
    return not effect.idempotency_key.startswith(f"{effect.run_id}:{effect.step}:")


def _touch(row: Found, held: Holds | None, *, see: bool) -> Touch:
    effect = row.effect
    kind, why = _held(row.kind, held.of(effect.tool) if held else "")
    says = phrase(why or kind.sentence)
    if row.not_before and not why:
        says = told(_("{sentence} Not before {at}."), sentence=kind.sentence, at=row.not_before)
    return Touch(
        title=effect.tool,
        state=kind,
        says=says,
        detail=effect.provider_ref,
        url=reverse("ledger:effect", args=[effect.uid]) if see else "",
    )


def _plain(asked: _Asked, held: Holds, *, see: bool) -> Touch:
    """Of a call that is no effect at the head."""
    kind, why = _held(asked.kind, held.of(asked.tool))
    effect = asked.effect
    return Touch(
        title=asked.tool,
        state=kind,
        says=phrase(why or kind.sentence),
        detail=effect.provider_ref if effect else "",
        url=reverse("ledger:effect", args=[effect.uid]) if effect and see else "",
    )


def _held(kind: State, why: str) -> tuple[State, str]:
    """The kind as it is shown, and its sentence where something forbids it."""
    if not why or kind not in kinds.SENDS:
        return kind, ""
    return kinds.HELD, _("It would be called, but not now: {why}.").format(why=why)
