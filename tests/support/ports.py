"""Stand-ins for the layers above the driver: they write down what it tells them."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any, ClassVar
from uuid import UUID, uuid4

from runs.authority import Lease
from runs.heads import Asker, Head
from runs.models import Run
from runs.ports import Answer, Answers


@dataclass(slots=True)
class Question:
    """A question as it was when the run began to wait for it."""

    value: Any
    askers: tuple[Asker, ...]
    answer: Any = None
    answered: bool = False
    decision: UUID = field(default_factory=uuid4)


class Approvals:
    """Keeps questions in memory; `answer` is the person. Flags are read by the next move."""

    open_: ClassVar[dict[UUID, dict[str, Question]]] = {}
    calls: ClassVar[list[str]] = []
    handed: ClassVar[list[Answer]] = []
    deadline: ClassVar[datetime | None] = None
    lapsed: ClassVar[bool] = False
    unstable: ClassVar[bool] = False

    @classmethod
    def clear(cls) -> None:
        cls.open_, cls.calls, cls.handed = {}, [], []
        cls.deadline, cls.lapsed, cls.unstable = None, False, False

    @classmethod
    def answer(cls, run_id: UUID, asked: object, value: object) -> None:
        """Decide the open question whose payload is `{"ask": asked}`."""
        found = [q for q in cls.open_[run_id].values() if q.value == {"ask": asked}]
        (question,) = found
        question.answer, question.answered = value, True

    def read(self, run_id: UUID, head: Head) -> Answers:
        known = self.open_.get(run_id, {})
        answered = {i: known[i] for i in head.pending if i in known and known[i].answered}
        consumed = {i for i, q in answered.items() if head.consumed(q.askers)}
        ready: dict[str, Answer] = {}
        for i, question in answered.items():
            pending = head.pending[i]
            if i not in consumed and pending.value == question.value:
                answer = Answer(
                    decision_id=question.decision,
                    interrupt_id=i,
                    task_id=pending.task_id,
                    value=question.answer,
                )
                ready.setdefault(pending.task_id, answer)
        return Answers(
            ready=tuple(ready.values()),
            consumed=bool(consumed),
            lapsed=self.lapsed,
            unstable=self.unstable,
            under_way=bool(answered),
        )

    def hand_over(self, lease: Lease, answers: tuple[Answer, ...]) -> None:
        self.calls.append("hand_over")
        self.handed.extend(answers)

    def note_delivered(self, lease: Lease, head: Head) -> None:
        self.calls.append("note_delivered")

    def open(self, run: Run, head: Head) -> datetime | None:
        self.calls.append("open")
        known = self.open_.setdefault(run.pk, {})
        for i, pending in head.pending.items():
            if i not in known or known[i].value != pending.value:
                known[i] = Question(pending.value, pending.askers)
        for i in set(known) - set(head.pending):
            del known[i]
        return self.deadline or datetime.now(UTC) + timedelta(hours=1)

    def withdraw(self, run: Run, reason: str) -> None:
        self.calls.append(f"withdraw: {reason}")

    def held(self, run_id: UUID) -> tuple[Asker, ...]:
        questions = self.open_.get(run_id, {}).values()
        return tuple(asker for q in questions if q.answered for asker in q.askers)

    def forget(self, run: Run) -> None:
        self.calls.append("forget")
        for question in self.open_.get(run.pk, {}).values():
            question.answered, question.answer = False, None


class Ledger:
    """Says what a test has set."""

    doubtful: ClassVar[bool] = False
    stop: ClassVar[bool] = False

    @classmethod
    def clear(cls) -> None:
        cls.doubtful = cls.stop = False

    def in_doubt(self, run_id: UUID) -> bool:
        return self.doubtful

    def stopped(self, agent: str) -> bool:
        return self.stop
