"""The heart of the ledger: every guard x everything that can be found x every end of a call.

fakepay is the real provider, in a process of its own; what it performed is what happened. Workers
that are killed are real processes that get a real SIGKILL. For the guards that do not rely on it,
its deduplication is off. In every cell

1. nothing is performed twice, and not a request more is received than the table allows;
2. what the ledger says is what fakepay holds, or the ledger says that it is in doubt;
3. what is in doubt, settled by the books, ends in exactly one performance.
"""

from __future__ import annotations

import signal
from dataclasses import dataclass
from datetime import timedelta

import pytest

from ledger import effects
from tests.agents.fakepay_process import Fakepay, wait_until
from tests.ledger.conftest import effect_of, make_run, pass_time
from tests.ledger.table import scenes
from tests.ledger.table.cells import ENDS, Cell, every
from tests.ledger.table.scenes import Scene
from tests.support.processes import worker

pytestmark = pytest.mark.chaos
ROUNDS = 8
"""Drivers that may follow each other until an effect is decided."""
QUARANTINE = timedelta(minutes=2)
"""After that, a "no" of the provider counts; it is also longer than any wait."""


@dataclass(frozen=True, slots=True)
class Books:
    """What fakepay holds about the order of one cell."""

    bank: Fakepay
    order: str

    def performed(self) -> list[object]:
        return self._column("SELECT id FROM refunds WHERE order_id = ?", self.order)

    def received(self) -> int:
        return len(self._answers())

    def quiet(self) -> None:
        """Return once every request has come to its end."""
        wait_until(lambda: None not in self._answers())

    def forget_keys(self) -> None:
        """As providers do when keys are older than they promise to keep them."""
        ours = f"SELECT id FROM requests WHERE body LIKE '%\"{self.order}\"%'"  # noqa: S608 (ours)
        self.bank.change(f"DELETE FROM keys WHERE request_id IN ({ours})")  # noqa: S608 (ours)

    def _answers(self) -> list[object]:
        sql = "SELECT answer FROM requests WHERE method = 'POST' AND body LIKE ?"
        return self._column(sql, f'%"{self.order}"%')

    def _column(self, sql: str, value: str) -> list[object]:
        return [row[0] for row in self.bank.rows(sql, value)]


@pytest.fixture
def books(request: pytest.FixtureRequest, banks, settings, monkeypatch) -> Books:
    cell: Cell = request.getfixturevalue("cell")
    bank = banks[cell.guard.startswith("provider")]
    settings.FAKEPAY_URL = bank.url
    monkeypatch.setattr(effects, "IN_PROGRESS", 0.05)
    return Books(bank, str(cell))


@pytest.mark.parametrize("cell", tuple(every()), ids=str)
def test_cell(cell: Cell, books: Books) -> None:
    scene = Scene(make_run(), cell.guard, str(cell))
    scene.prepare(cell.found)
    if cell.found.startswith("key_too_old"):
        books.forget_keys()

    told = drive(scene, cell, books)
    for _ in range(ROUNDS):
        books.quiet()
        if told != "later":
            break
        pass_time(scene.run, QUARANTINE)
        told = scene.goes_on()

    performed = books.performed()
    assert told == cell.standing
    assert cell.fewest <= books.received() <= cell.most
    assert len(performed) <= 1
    effect = effect_of(scene.run)
    if cell.standing == "done":
        assert effect.status in ("sent", "confirmed")
        assert [effect.provider_ref] in (performed, ["re_by_hand"])
        assert len(performed) == 1
    elif cell.standing == "failed":
        assert (effect.status, performed) == ("failed", [])
    else:
        assert effect.status == "in_doubt"
        scene.settle(performed=bool(performed))
        assert scene.attempt() == "done"
        assert len(books.performed()) == 1


def drive(scene: Scene, cell: Cell, books: Books) -> str:
    """Find what is there, and call if that is allowed; how the effect stands for the node."""
    if not cell.end:
        return scene.attempt(*ENDS.values())
    end = ENDS[cell.end]
    if end.killed_at:
        return killed(scene, cell, end.killed_at, books)
    if cell.found == "open_here":
        both = set(scenes.in_two_branches(scene, end))
        decided = both - {"later"}  # one may ask before it is to be seen, the other one after
        assert len(decided) <= 1
        return decided.pop() if decided else "later"
    return scene.attempt(end)


def killed(scene: Scene, cell: Cell, place: str, books: Books) -> str:
    """The worker that finds it is killed at this place; if it gave back the run before, the next.

    Returns what the driver after it is told.
    """
    while True:
        branches = cell.found == "open_here"
        args = (scene.run.pk, cell.guard, scene.order, place, branches)
        with worker(scenes.perform_and_die, *args, FAKEPAY_URL=books.bank.url) as child:
            child.process.join(120)
            ended = child.process.exitcode
            if ended == -signal.SIGKILL:
                return scene.attempt()
            kind, what = child.hears()
        assert (kind, "LookAgainLater" in what) == ("raised", True), what
        pass_time(scene.run, QUARANTINE)
