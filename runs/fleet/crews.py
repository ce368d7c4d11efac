"""The workers: which live, which are gone, what code and agents each has, how busy it is."""

from __future__ import annotations

from dataclasses import dataclass

from django.conf import settings
from django.utils.translation import gettext as _

from audit.models import ClockTimestamp
from runs import workers
from runs.models import Worker
from runs.status import State

MOST = 200

ALIVE, DRAINING, GONE = "alive", "draining", "gone"


def _looks(value: str) -> State:
    """How a state of a worker is called and looks."""
    if value == ALIVE:
        label, tone, icon = _("Alive"), "ok", "check"
        sentence = _("The worker says regularly that it is there.")
    elif value == DRAINING:
        label, tone, icon = _("Draining"), "neutral", "hourglass"
        sentence = _("The worker was asked to stop; its runs end at their next step.")
    else:
        label, tone, icon = _("Gone"), "warn", "triangle"
        sentence = _("The worker stopped without saying so. Its runs are handed to others.")
    return State(value=value, label=label, tone=tone, icon=icon, sentence=sentence)


@dataclass(frozen=True, slots=True, kw_only=True)
class Crew:
    """One worker as a page shows it."""

    worker: Worker
    state: State
    leases: int

    @property
    def gone(self) -> bool:
        return self.state.value == GONE

    @property
    def alive(self) -> bool:
        return self.state.value == ALIVE

    @property
    def other_release(self) -> bool:
        """It runs other code than this process."""
        return bool(self.worker.release) and self.worker.release != settings.RELEASE


def crews() -> list[Crew]:
    """Every worker that has not stopped in order, the longest serving first."""
    held = workers.taken()
    found = Worker.objects.annotate(now=ClockTimestamp()).order_by("started_at")
    return [
        Crew(
            worker=worker,
            state=_state(worker, alive=worker.now - worker.seen_at < workers.alive_for()),
            leases=held.get(worker.name, 0),
        )
        for worker in found[:MOST]
    ]


def _state(worker: Worker, *, alive: bool) -> State:
    if not alive:
        return _looks(GONE)
    return _looks(DRAINING if worker.draining else ALIVE)
