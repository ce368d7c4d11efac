"""What workers say of their tools when they start, and what those that live say together."""

from __future__ import annotations

from dataclasses import dataclass

from django.db.models.functions import Now

from ledger.inventory.known import Kind, Known
from ledger.models import Toolbox
from runs import workers
from runs.models import Worker


@dataclass(frozen=True, slots=True, kw_only=True)
class Offered:
    """The tools of all live workers; of those that spoke last where none lives."""

    by_name: dict[str, tuple[Known, ...]]
    """Several where a name is declared in different ways."""
    live: bool
    """Some worker that has told of its tools lives."""

    def effect(self, name: str) -> Known | None:
        """The tool of this name that changes something; None where workers disagree about it."""
        found = [each for each in self.by_name.get(name, ()) if each.kind == Kind.EFFECT]
        return found[0] if len(found) == 1 else None

    def knows(self, name: str) -> bool:
        return any(each.kind == Kind.EFFECT for each in self.by_name.get(name, ()))


def announce(worker: str, tools: tuple[Known, ...]) -> None:
    """Write down what this worker knows, and forget workers that have gone."""
    Toolbox.objects.exclude(worker__in=Worker.objects.values("name")).delete()
    Toolbox.objects.update_or_create(
        worker=worker, defaults={"tools": [each.kept() for each in tools], "at": Now()}
    )


def offered() -> Offered:
    """Two queries at most."""
    boxes = Toolbox.objects.order_by("-at", "worker")
    found = list(boxes.filter(worker__in=workers.alive().values("name")))
    live = bool(found)
    by_name: dict[str, list[Known]] = {}
    for box in found or list(boxes):
        for each in map(Known.read, box.tools):
            same = by_name.setdefault(each.name, [])
            if each not in same:
                same.append(each)
    return Offered(by_name={name: tuple(by_name[name]) for name in sorted(by_name)}, live=live)
