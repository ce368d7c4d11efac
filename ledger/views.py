"""One effect: what was done to the outside world, and all that is known about it."""

from __future__ import annotations

from dataclasses import dataclass
from uuid import UUID

from django.http import HttpRequest, HttpResponse
from django.views.decorators.http import conditional_page, require_safe

from accounts.models import User
from audit import queries as log
from audit.models import Entry
from audit.verbs import VERBS, Verb
from ledger import ports, queries, shown
from ledger import settle as settling
from ledger.drift import pages as drift_pages
from ledger.models import Effect, EffectAttempt, Incident
from ledger.status import Status
from runs import chain, masking, web
from runs import ports as upper
from runs.masking import Cloak

SEE = "ledger.view_effect"
SEE_ALL_ENTRIES = "audit.view_entry"
EVERY = 10
"""Seconds between two looks at what may change."""
MOST_ENTRIES = 50


@dataclass(frozen=True, slots=True, kw_only=True)
class Logged:
    """One entry of the audit log about the effect."""

    entry: Entry
    verb: Verb


@conditional_page
@require_safe
def effect(request: HttpRequest, uid: UUID) -> HttpResponse:
    """One effect: what was sent, what came back, what it rests on, and who did what to it."""
    user = web.reader(request, SEE)
    detail = queries.effect(uid, user)
    revealed = web.reveals(request, detail.effect.run_id, f"effect {uid}")
    cloak = None if revealed else upper.cloak(detail.effect.run_id, user)
    ground = _ground(detail.effect, user)
    named, result, asked = (
        _shown(value, cloak)
        for value in ({"args": detail.effect.args}, detail.effect.result, ground and ground.payload)
    )
    calls = [_call(each, cloak) for each in detail.calls]
    context = {
        "detail": detail,
        "effect": detail.effect,
        "state": (detail.state if detail.calling else shown.state_of(detail.effect, detail.state)),
        "args": masking.arguments(detail.effect.args, lambda _: named.value),
        "result": result.value,
        "ground": ground,
        "asked": asked.value,
        "checkpoint": chain.of_task(detail.effect.run_id, _task(detail.effect)),
        "hidden": sum(
            each.hidden for each in (named, result, asked, *(call.response for call in calls))
        ),
        "revealed": revealed,
        "may_reveal": user.has_perm(web.REVEAL),
        "may_settle": user.has_perm(settling.PERMISSION),
        "calls": calls,
        "looks": [shown.Asked.of(each) for each in detail.looks],
        "incidents": [_incident(each, cloak) for each in detail.incidents],
        "entries": _entries(user, uid),
        "sees_all_entries": user.has_perm(SEE_ALL_ENTRIES),
        "drifts": drift_pages.of_effect(detail.effect, cloak),
        "live_url": request.path,
        "every": EVERY,
        "moving": detail.effect.status in (Status.PENDING, Status.IN_DOUBT),
    }
    return web.answer(request, "ledger/effect.html", "standing", context)


def _ground(effect: Effect, user: User) -> ports.Ground | None:
    call = (effect.run_id, effect.tool, effect.args_hash)
    return ports.grounds().of(effect.permit, call, user)


def _task(effect: Effect) -> str:
    """The id of the task that performs it: a step is `{node}@{task}` or `{node}@{task}/{call}`."""
    return effect.step.rpartition("@")[2].partition("/")[0]


def _call(call: EffectAttempt, cloak: Cloak | None) -> shown.Call:
    return shown.Call.of(call, response=_shown(call.response, cloak))


def _shown(value: object, cloak: Cloak | None) -> masking.Masked:
    """`cloak` None: everything."""
    return masking.Masked(value=value, hidden=0) if cloak is None else masking.mask(value, cloak)


def _incident(incident: Incident, cloak: Cloak | None) -> tuple[Incident, object]:
    return incident, _shown(incident.facts, cloak).value


def _entries(user: User, uid: UUID) -> list[Logged]:
    """What the audit log says about the effect; without the permission only the reader's own."""
    own = "" if user.has_perm(SEE_ALL_ENTRIES) else str(user.pk)
    about = log.Filters(target_kind="effect", target_id=str(uid), actor_id=own)
    found = log.entries(about, limit=MOST_ENTRIES)
    return [Logged(entry=each, verb=VERBS[each.verb]) for each in found if each.verb in VERBS]
