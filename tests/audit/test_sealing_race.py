"""Writers that commit in any order, or not at all, while the log is sealed."""

from __future__ import annotations

import threading
from collections import defaultdict
from concurrent.futures import ThreadPoolExecutor
from itertools import chain

import pytest
from django.db import connection, transaction

from audit import seal, trail, verify
from audit.models import Entry, Seal

WRITERS = 8
ROUNDS = 12
PATIENCE = 30


class Scene:
    """Writers in rounds: all record, some commit, these are sealed, only then the others end."""

    def __init__(self, actor: trail.Actor) -> None:
        self.actor = actor
        self.meeting = threading.Barrier(WRITERS)
        self.committed: defaultdict[int, list[int]] = defaultdict(list)
        self.sealed = threading.Condition()
        self.done = threading.Event()

    def write(self, name: int) -> list[int]:
        """Return the ids of what was committed."""
        try:
            return list(chain.from_iterable(self.round(name, number) for number in range(ROUNDS)))
        finally:
            connection.close()

    def round(self, name: int, number: int) -> list[int]:
        early, late = (name + number) % 3 == 1, (name + number) % 3 == 2
        with transaction.atomic():
            made = [
                trail.record("run.started", actor=self.actor, target=("run", str(name))).id
                for _ in range(1 + (name + number) % 2)
            ]
            self.meeting.wait(PATIENCE)  # everybody holds ids that nobody else can see
            if not early:
                self.meeting.wait(PATIENCE)
                with self.sealed:
                    assert self.sealed.wait_for(lambda: self.is_sealed(number), PATIENCE)
                transaction.set_rollback(not late)
        if early:
            self.committed[number] += made
            self.meeting.wait(PATIENCE)
        return made if early or late else []

    def is_sealed(self, number: int) -> bool:
        ids = self.committed[number]
        return Seal.objects.filter(entry_id__in=ids).count() == len(ids)

    def keep_sealing(self) -> int:
        count = 0
        try:
            while not self.done.is_set():
                count += seal.seal(limit=5)
                with self.sealed:
                    self.sealed.notify_all()
        finally:
            connection.close()
        return count


@pytest.mark.race
@pytest.mark.django_db(transaction=True)
def test_nothing_is_lost_or_sealed_twice_whatever_the_order_of_commits(ada):
    scene = Scene(ada)
    with ThreadPoolExecutor(WRITERS + 2) as pool:
        sealers = [pool.submit(scene.keep_sealing) for _ in range(2)]
        writers = [pool.submit(scene.write, name) for name in range(WRITERS)]
        try:
            kept = sorted(chain.from_iterable(writer.result(120) for writer in writers))
        finally:
            scene.done.set()
        count = sum(sealer.result(60) for sealer in sealers)
    while last := seal.seal():
        count += last

    seals = list(Seal.objects.order_by("seq").values_list("seq", "entry_id"))
    assert sorted(Entry.objects.values_list("id", flat=True)) == kept
    assert sorted(entry_id for _, entry_id in seals) == kept
    assert [seq for seq, _ in seals] == list(range(1, len(kept) + 1))
    assert count == len(kept)
    assert [entry_id for _, entry_id in seals] != kept, "no entry committed late: nothing tested"
    report = verify.verify()
    assert (report.problems, report.checked, report.unsealed) == ((), len(kept), 0)
