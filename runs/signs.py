"""Signs of life of the parts that must run by themselves: what each did last, is it well?

1. Each is judged by what it leaves in the database, by the database's clock; only the broker, which
   leaves nothing there, is asked, at most once in `dispatch.ASKED_EVERY` seconds per process.
2. What is not well says what to do about it.
3. The layers above add their own parts: the functions that RUNS_SIGNS names.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from django.conf import settings
from django.db import Error, connections
from django.db.models.functions import Now
from django.urls import reverse
from django.utils.module_loading import import_string
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from accounts import once
from audit import queries as audit
from audit.models import ClockTimestamp
from runs import dispatch
from runs.models import Pulse
from runs.status import State

logger = logging.getLogger(__name__)

LATE = timedelta(minutes=1)
"""What runs every few seconds is taken for dead when it is quiet for longer."""
TICK = 5.0
"""Seconds between two ticks of beat that are written down."""
CELERY = "celery -A signalbox"

_ticked = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Sign:
    """Whether a part that must run by itself does so, and since when it has been quiet."""

    key: str
    name: str
    at: datetime | None
    """When it last did something; None: never, or nobody writes that down."""
    well: bool
    note: str = ""
    """What it did last, or what is wrong; less than a sentence."""
    joint: str = ", "
    """Stands between that and the moment."""
    lack: str = ""
    """What its badge says where it is not well."""
    todo: str = ""
    """What to do where it is not well."""
    command: str = ""
    """To be typed on the server."""
    url: str = ""
    """Where more is said about it."""
    permission: str = ""
    """Needed for `url`."""

    @property
    def state(self) -> State:
        return State(
            value="well" if self.well else "unwell",
            label=_("Well") if self.well else self.lack or _("Quiet"),
            tone="ok" if self.well else "warn",
            icon="check" if self.well else "triangle",
            sentence=self.note,
        )


def all() -> tuple[Sign, ...]:  # noqa: A001 (signs.all reads well)
    """Every part, in the order in which one needs the other."""
    above: list[Callable[[], Sign]] = [import_string(name) for name in settings.RUNS_SIGNS]
    return (broker(), beat(), sweeper(), *(sign() for sign in above), sealer())


def broker() -> Sign:
    """The doorbell itself. While it is away nothing is lost, and nothing starts."""
    well = dispatch.reachable()
    return Sign(
        key="broker",
        name=_("Broker"),
        at=None,
        well=well,
        note=_("answers") if well else _("cannot be reached"),
        lack=_("Away"),
        todo=""
        if well
        else _(
            "Runs are accepted and kept, and go on once it is back. Start it, or correct"
            " BROKER_URL."
        ),
        command="" if well else "manage.py doctor",
    )


def beat() -> Sign:
    """What rings for everything that must happen by itself."""
    at, late, _told = _pulse("beat")
    return Sign(
        key="beat",
        name=_("Beat"),
        at=at,
        well=not late,
        note=_("ticks") if not late else _("does not tick"),
        lack="" if at else _("Not seen"),
        todo=_("Without beat nothing is found again that was missed. Start it.") if late else "",
        command=f"{CELERY} beat" if late else "",
    )


def sweeper() -> Sign:
    """What finds runs that nobody looks at."""
    at, late, told = _pulse("sweeper")
    failed = told.get("failed", [])
    todo = command = ""
    if late:
        todo = _("What was missed is not found again. Start beat, and a worker on the queue sweep.")
        command = f"{CELERY} worker -Q sweep -n sweeper@%h"
    elif failed:
        todo = _("See the log of the worker on the queue sweep.")
    return Sign(
        key="sweeper",
        name=_("Sweeper"),
        at=at,
        well=not late and not failed,
        note=_swept(told, failed),
        lack=_("Failing") if failed else "" if at else _("Not seen"),
        todo=todo,
        command=command,
    )


def _swept(told: dict[str, int], failed: list[str]) -> str:
    if failed:
        return _("these rules failed: %(rules)s") % {"rules": ", ".join(failed)}
    if not told:
        return _("has never run")
    rang, did = told.get("rang", 0), told.get("did", 0)
    if rang:
        return ngettext("rang for %(count)s run", "rang for %(count)s runs", rang) % {"count": rang}
    if did:
        return ngettext("did %(count)s thing", "did %(count)s things", did) % {"count": did}
    return _("found nothing to ring for")


def sealer() -> Sign:
    """The sealer does nothing in quiet times, so it is judged by what waits for it."""
    log = audit.sealed()
    waits = ngettext(
        "%(count)s entry waits for a seal", "%(count)s entries wait for a seal", log.unsealed
    ) % {"count": log.unsealed}
    return Sign(
        key="sealer",
        name=_("Sealer"),
        at=log.newest.sealed_at if log.newest else None,
        well=not log.late,
        lack=_("Late"),
        note=waits if log.unsealed else _("every entry is sealed"),
        todo=_(
            "The audit log is not protected meanwhile. Start beat, and a worker on the queue sweep."
        )
        if log.late
        else "",
        command=f"{CELERY} worker -Q sweep -n sweeper@%h" if log.late else "",
        url=reverse("audit:list"),
        permission="audit.view_entry",
    )


def _pulse(name: str) -> tuple[datetime | None, bool, Any]:  # Any: what the part has noted
    """When the part last did something, whether that is too long ago, and what it did."""
    return _pulses().get(name, (None, True, {}))


@once.a_page
def _pulses() -> dict[str, tuple[datetime, bool, Any]]:  # Any: see `_pulse`
    found = Pulse.objects.annotate(now=ClockTimestamp()).values_list("name", "at", "now", "note")
    return {name: (at, now - at > LATE, note) for name, at, now, note in found}


def tick() -> None:
    """Beat is alive. Written down at most every TICK seconds; never raises for the database."""
    global _ticked
    if time.monotonic() - _ticked < TICK and _ticked:
        return
    _ticked = time.monotonic()
    try:
        Pulse.objects.update_or_create(name="beat", defaults={"at": Now()})
    except Error as exc:
        logger.warning("cannot say that beat ticks: %s", exc)
        connections.close_all()
