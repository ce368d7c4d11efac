"""What the driver and the pages need to know from the layers above it, without importing them.

The implementations are named in settings (RUNS_APPROVALS, RUNS_LEDGER) and verified by a system
check when a process starts. All methods run in the driver's process; those that say so run inside
its fenced transaction. `Story` (RUNS_STORIES) is for the pages of a run.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import cache
from typing import Protocol, cast
from uuid import UUID

from django.conf import settings
from django.db.models import Expression, Model, QuerySet
from django.utils.module_loading import import_string

from accounts.models import User
from runs.askers import Asker
from runs.authority import Lease
from runs.heads import Head
from runs.masking import BARE, Cloak
from runs.models import Run
from runs.story import Ahead, Deed, Event, Fact, Hide, Item, Notice, Remark, Section, Span, Tab


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """A decided, unconsumed answer to an interrupt that is pending now with the decided payload."""

    decision_id: UUID
    interrupt_id: str
    task_id: str
    value: object


@dataclass(frozen=True, slots=True, kw_only=True)
class Answers:
    """What people have said about the interrupts of one head."""

    ready: tuple[Answer, ...] = ()
    """At most one per task."""
    consumed: bool = False
    """LangGraph already holds an answer to one of them, though it still lists the interrupt."""
    unstable: bool = False
    """A payload has changed more often than APPROVALS_ROUNDS allows."""
    lapsed: bool = False
    """A question's deadline has passed, and its policy says that the run is parked then."""
    outdated: bool = False
    """A node has refused its answer, and that has not been cut yet."""
    under_way: bool = False
    """Some decision of this run has not taken effect yet."""


class Approvals(Protocol):
    """The approvals app, as the driver sees it."""

    def read(self, run_id: UUID, head: Head) -> Answers:
        """What is decided about the pending interrupts of `head`. Reads only."""

    def hand_over(self, lease: Lease, answers: tuple[Answer, ...]) -> None:
        """Note, fenced, that these decisions are being handed to LangGraph now."""

    def note_delivered(self, lease: Lease, head: Head) -> None:
        """Mark, fenced, every decision under way that `head` shows to have taken effect."""

    def open(self, run: Run, head: Head) -> datetime | None:
        """Open or refresh one request per pending interrupt and close the others.

        Inside the driver's transaction, with run and lease locked. Returns the nearest deadline.
        """

    def withdraw(self, run: Run, reason: str) -> None:
        """The run ends: close open requests, give up decisions under way. In the transaction."""

    def held(self, run_id: UUID) -> tuple[Asker, ...]:
        """Who asked the questions whose answers asking again cuts back. Reads only."""

    def outdated(self, run_id: UUID) -> tuple[Asker, ...]:
        """Who got an answer that is no longer good and is to be cut. Reads only."""

    def note_cut(self, run_id: UUID) -> None:
        """Those answers and their questions have been cut. In the transaction."""

    def forget(self, run: Run) -> None:
        """Give up the decisions behind those answers; new requests open. In the transaction."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Hindrances:
    """Why the ledger would start no effect of a run."""

    in_doubt: bool
    """An effect of the run is in doubt."""
    stopped: bool
    """An emergency stop is on for its agent or for everything."""
    drifted: bool = False
    """A step asked for another effect than before, and nobody has accepted that."""


class Ledger(Protocol):
    """The ledger, as the driver sees it."""

    def hindrances(self, run_id: UUID, agent: str) -> Hindrances:
        """What keeps this run of this agent from going on now. Reads only."""


class Story(Protocol):
    """What one layer above knows about runs, for pages. Reads only; runs in the web process.

    `user` is who looks: they are told nothing that the pages of that layer would keep from them.
    """

    tab: Tab

    def count(self, run_id: UUID, user: User) -> int:
        """How many items the tab of this run has."""

    def items(self, run_id: UUID, user: User) -> list[Item]:
        """The rows of the tab, newest first, up to a sensible number."""

    def events(
        self, run_id: UUID, user: User, *, since: datetime, until: datetime | None
    ) -> list[Event]:
        """What happened to the run from `since` to before `until`, in any order."""

    def spans(
        self, run_id: UUID, user: User, *, since: datetime, until: datetime | None
    ) -> list[Span]:
        """What went on at some time from `since` to before `until`, in any order."""

    def deeds(self, run_id: UUID, user: User, fences: Collection[int]) -> list[Deed]:
        """What these attempts of the run did or asked for, in order, up to a sensible number."""

    def sections(self, run_id: UUID, user: User, hide: Hide) -> list[Section]:
        """Everything of this run for a file, in a stable order; rows are read as they are asked
        for. What may hold values of people goes through `hide`."""

    def notice(self, run: Run, user: User) -> Notice | None:
        """What a person is expected to do about the run now."""

    def facts(self, run_id: UUID) -> list[Fact]:
        """What to know before acting on the run."""

    def ahead(self, run: Run, user: User, *, ends: bool) -> Ahead | None:
        """What the run's next step would touch outside; `ends`: what ending it leaves behind.

        None: nothing of this layer is outside.
        """

    def remarks(self, run_ids: Collection[UUID], user: User) -> dict[UUID, Remark]:
        """One line about each of several runs, where there is something to say."""

    def mine(self, user: User) -> QuerySet[Model, UUID] | None:
        """The ids of runs that this person may see for what this layer has to do with them, as a
        query of rows with a `run`; None: of none."""

    def troubled(self) -> QuerySet[Model, UUID] | None:
        """The ids of runs that an operator must look at, as a query; None: there are never any."""


Cloaked = Callable[[str, str], Expression]
"""The cloak of the run in one column, whose agent is in another, as the database makes it: a
`runs_cloak`, null where nothing is hidden."""


class Masks(Protocol):
    """What the pages of runs and effects keep from a reader besides RUNS_HIDDEN_KEYS."""

    def of_runs(self, run_ids: Collection[UUID], user: User) -> Mapping[UUID, Cloak]:
        """What is hidden from this person in each of these runs. Reads only."""

    def anywhere(self, user: User) -> Cloak:
        """The fields that are hidden from this person in some run, places in lists left out."""

    def cloaked(self, user: User) -> Cloaked:
        """The same as `of_runs`, for searches. Reads once, however often it is asked."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Amount:
    """How much there is of something."""

    rows: int = 0
    bytes: int = 0

    def __add__(self, more: Amount) -> Amount:
        return Amount(rows=self.rows + more.rows, bytes=self.bytes + more.bytes)


class Keeper(Protocol):
    """One class of what is kept of runs, and what may be taken away of it: see `runs.retention`."""

    kind: str
    label: str

    def age(self) -> timedelta | None:
        """How long after a run's end; None: it is kept for ever."""

    def held(self) -> QuerySet[Model, UUID] | None:
        """The ids of runs of which nothing of any class may go now, as a query; None: of none."""

    def measure(self, run_ids: Collection[UUID]) -> Amount:
        """How much these runs have of it. Reads only."""

    def erase(self, run: Run) -> None:
        """Take it away, and leave tombstones. In a transaction; run and lease are locked."""


@cache
def approvals() -> Approvals:
    # The system check in runs.checks has verified that the class has the protocol's methods.
    return cast(Approvals, import_string(settings.RUNS_APPROVALS)())


@cache
def ledger() -> Ledger:
    return cast(Ledger, import_string(settings.RUNS_LEDGER)())


@cache
def masks() -> Masks:
    return cast(Masks, import_string(settings.RUNS_MASKS)())


def cloak(run_id: UUID, user: User) -> Cloak:
    """What is hidden from this person in this run."""
    return masks().of_runs([run_id], user).get(run_id, BARE)


@cache
def stories() -> tuple[Story, ...]:
    """In the order of RUNS_STORIES, which is the order of the tabs."""
    return tuple(cast(Story, import_string(name)()) for name in settings.RUNS_STORIES)


def stories_for(user: User) -> list[Story]:
    """Those of which this person may see the tab."""
    return [story for story in stories() if user.has_perm(story.tab.permission)]


@cache
def keepers() -> tuple[Keeper, ...]:
    """In the order of RUNS_KEEPERS."""
    return tuple(cast(Keeper, import_string(name)()) for name in settings.RUNS_KEEPERS)
