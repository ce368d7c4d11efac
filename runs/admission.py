"""Admission: a run is accepted when its row is committed, before the graph is first invoked.

1. Run, lease and audit entry are one transaction; the doorbell rings after it.
2. The same idempotency key of the same agent returns the first run; with another input it is
   refused.
"""

from __future__ import annotations

import json
from collections import Counter

from django.conf import settings
from django.db import IntegrityError, transaction
from django.utils.functional import lazy
from django.utils.translation import gettext_noop as noop

from accounts import actors
from accounts.actors import Actor
from accounts.errors import AccountsError
from accounts.speech import later
from audit import canonical, trail
from runs import dispatch, errors, examples, registry
from runs.models import Lease, Run

KEY_LIMIT = 255
OF_A_FORM = "form:"
"""How keys begin that a page made, so that sending a form twice starts one run."""


def read(text: str) -> object:
    """The input that somebody wrote as JSON. Raises BadInput if nothing can be read from it, or
    not by every reader alike.
    """
    try:
        return json.loads(text, object_pairs_hook=_once)
    except RecursionError as exc:
        raise errors.BadInput(later("This is nested too deep to be read.")) from exc
    except ValueError as exc:
        raise errors.BadInput(later("This is not JSON: {exc}.", exc=exc)) from exc


def _once(pairs: list[tuple[str, object]]) -> dict[str, object]:
    """An object; JSON readers do not agree on which of two values with one name counts."""
    found = dict(pairs)
    if len(found) < len(pairs):
        ((twice, _),) = Counter(name for name, _ in pairs).most_common(1)
        raise errors.BadInput(
            later("{twice!r} stands twice in one object. Take one of them out.", twice=twice)
        )
    return found


def start(agent: str, given: object, *, actor: Actor, key: str | None = None) -> Run:
    """Accept a run and return it; with a known `key`, return the run that it started first.

    `given` is the graph's input: JSON that PostgreSQL can store (no NUL, no NaN).
    Raises UnknownAgent, BadInput, KeyReused, NotPermitted.
    """
    try:
        with transaction.atomic():
            user = actors.require(actor, "runs.start_run")
            declared = registry.declaration(agent)
            _check(declared, given, key)
            run = Run(
                agent=declared.name,
                agent_version=declared.version,
                title=declared.title_for(given),
                input=given,
                idempotency_key=key,
                started_by=user,
                starter=actor.label,
            )
            try:
                with transaction.atomic():
                    run.save(force_insert=True)
            except IntegrityError:
                if key is None:
                    raise
                return _first(declared.name, key, given)
            Lease.objects.create(run=run)
            trail.record(
                "run.started",
                actor=actor,
                target=("run", str(run.id)),
                run_id=run.id,
                data={"agent": declared.name, "version": declared.version, "key": key},
            )
            dispatch.ring(run.id, cause=noop("started"))
            return run
    except (AccountsError, errors.RunsError) as refusal:
        trail.record_refused(
            "run.start_refused",
            actor=actor,
            target=("agent", agent),
            reason=str(refusal),
        )
        raise


def _first(agent: str, key: str, given: object) -> Run:
    first = Run.objects.get(agent=agent, idempotency_key=key)
    if canonical.fingerprint(first.input) != canonical.fingerprint(given):
        raise errors.KeyReused(
            later(
                "The key {key!r} already started run {id} with another input. Use a new key,"
                " or the same input.",
                key=key,
                id=first.id,
            )
        )
    return first


def _check(declared: registry.Declaration, given: object, key: str | None) -> None:
    if key is not None and not (0 < len(key) <= KEY_LIMIT and key.isprintable()):
        raise errors.BadInput(
            later(
                "The idempotency key must be 1 to {key_limit} printable characters.",
                key_limit=KEY_LIMIT,
            )
        )
    if given is None:
        raise errors.BadInput(
            later("The input is null, which starts nothing. Pass an object, even {}.")
        )
    try:
        text = json.dumps(given, allow_nan=False, ensure_ascii=True)
    except (TypeError, ValueError, RecursionError) as exc:
        raise errors.BadInput(
            later("The input is not JSON: {exc}. Correct it and start again.", exc=exc)
        ) from exc
    if len(text) > settings.RUNS_INPUT_LIMIT:
        raise errors.BadInput(
            later(
                "The input has {len} bytes, more than {runs_input_limit}. Store the data"
                " elsewhere and pass a reference.",
                len=len(text),
                runs_input_limit=settings.RUNS_INPUT_LIMIT,
            )
        )
    if canonical.visible(given) != given:
        raise errors.BadInput(
            later(
                "The input has something that the database cannot store exactly: NUL, half a"
                " surrogate pair, a number above 2^53, or more than 100 levels. Remove it, or"
                " pass text."
            )
        )
    if declared.input_schema is not None:
        wrong = lazy(examples.complaint, str)(declared.input_schema, given)
        if str(wrong):
            raise errors.BadInput(later("{wrong} Correct it and start again.", wrong=wrong))
