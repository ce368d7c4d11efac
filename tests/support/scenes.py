"""Runs as operators meet them, for the tests and pictures of the page of a run."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any
from uuid import uuid4

from django.utils import timezone

from accounts.models import User
from approvals.models import Decision, Request
from approvals.policy import Policy
from ledger.models import Effect, EffectAttempt, HookEvent, Look
from runs.models import Attempt, Run
from runs.status import Outcome, Status
from tests.support import standing as make

PULL, PUSH = "~__pregel_pull, ", "~__pregel_push, "
ASKED = {"signalbox": 1, "tool": "", "args": {}, "facts": {}, "why": "", "digest": ""}
LOST = "worker@alpha:4711"
NEXT = "worker@beta:1902"


class Clock:
    """Moments of one run, in seconds after it was accepted."""

    def __init__(self, **ago: float) -> None:
        self.start = timezone.now() - timedelta(**ago)

    def at(self, seconds: float) -> datetime:
        return self.start + timedelta(seconds=seconds)


def chain(run: Run, clock: Clock, steps: Sequence[tuple[float, str]], **more: object) -> list[str]:
    """Checkpoints at these seconds; each names what runs from it (empty: nothing)."""
    fence, ns, first = more.get("fence", 1), more.get("ns", ""), int(str(more.get("first", 0)))
    ids: list[str] = []
    seen: set[str] = set()
    for number, (seconds, node) in enumerate(steps, start=first):
        names = [f"branch:to:{name}" for name in node.split("+") if name]
        held = fence(seconds) if callable(fence) else fence
        id_ = make.checkpoint(
            run,
            number,
            at=clock.at(seconds),
            updated=names,
            fence=held,
            ns=ns,
            values={"n": number},
            seen=sorted(seen),
        )
        ids.append(id_)
        seen |= {name for name in node.split("+") if name}
    return ids


def attempt(run: Run, clock: Clock, fence: int, start: float, end: float | None, **more) -> Attempt:
    ended = {"ended_at": clock.at(end)} if end is not None else {}
    for name in ("seen_at", "expired_at"):
        if name in more:
            more[name] = clock.at(more[name])
    return make.attempt(run, fence, started_at=clock.at(start), **ended, **more)


def effect(
    run: Run, clock: Clock, task: str, calls: Sequence[tuple[float, float, str]], **more: Any
) -> Effect:
    key, node = uuid4().hex, more.pop("node", "pay")
    made = Effect.objects.create(
        run=run,
        tool=more.pop("tool", "payments.refund"),
        idempotency="lookup",
        args={},
        args_hash=key,
        idempotency_key=key,
        provider_key=key,
        step=f"{node}@{task}",
        status=more.pop("status", "confirmed"),
        fence=1,
        attempts=len(calls),
        provider_ref="re_41b7",
        created_at=clock.at(calls[0][0]),
        updated_at=clock.at(more.pop("updated", calls[-1][1])),
        **more,
    )
    for number, (start, end, outcome) in enumerate(calls, start=1):
        EffectAttempt.objects.create(
            effect=made,
            number=number,
            provider_key=key,
            fence=1,
            holder=LOST,
            started_at=clock.at(start),
            ended_at=None if outcome == "open" else clock.at(end),
            timeout_at=clock.at(end + 5),
            outcome=outcome,
        )
    return made


def question(
    run: Run, clock: Clock, task: str, asked: float, decided: float | None = None, **more: Any
) -> Request:
    policy = Policy(name="refunds", group="finance").stored()
    title = more.get("title", "Send refund of €120.00 to Jo Finch")
    made = Request.objects.create(
        run=run,
        title=title,
        interrupt_id=uuid4().hex,
        checkpoint_id="c",
        askers=[["", "c", task, 0]],
        node=more.get("node", "approval_gate"),
        shape="ours",
        payload=ASKED | {"question": title},
        digest="0" * 64,
        policy=policy,
        group="finance",
        groups=["finance"],
        deadline=make.soon(hours=20),
        fence=2,
        status="approved" if decided is not None else "pending",
        created_at=clock.at(asked),
        closed_at=clock.at(decided) if decided is not None else None,
    )
    if decided is not None:
        Decision.objects.create(
            request=made,
            verdict="approved",
            decider="Ben Ortiz",
            digest="0" * 64,
            answer={},
            at=clock.at(decided),
            delivery="took_effect",
            delivered_at=clock.at(decided + 1),
        )
    return made


def run(title: str, clock: Clock, by: User | None = None, **more) -> Run:
    made: dict[str, Any] = {"first_started_at": clock.at(1), "input": {"order_id": "10382"}} | more
    if "ended" in made:
        made["ended_at"] = clock.at(made.pop("ended"))
    return make.run(title, by=by, created_at=clock.start, **made)


def alive(run: Run, holder: str, note: str = "") -> None:
    """A worker drives it."""
    make.lease(
        run,
        fence=1,
        holder=holder,
        expires_at=make.soon(seconds=26),
        renewed_at=make.ago(seconds=4),
        progress_at=make.ago(seconds=9),
        progress_note=note,
    )


def short(by: User | None = None) -> Run:
    """Done in a few seconds."""
    clock = Clock(minutes=4)
    made = run("Refund order 10381", clock, by, status=Status.SUCCEEDED, ended=9.1)
    steps = [(0.8, "load_order"), (1.4, "assess"), (5.1, "lookup_policy"), (5.9, "pay"), (9, "")]
    ids = chain(made, clock, steps)
    make.write(made, ids[3], "t-pay", PULL + "pay", at=clock.at(8.9))
    effect(made, clock, "t-pay", [(6.2, 8.6, "succeeded")])
    attempt(made, clock, 1, 0.7, 9.1, outcome=Outcome.FINISHED)
    make.lease(made, fence=1, renewed_at=clock.at(9))
    return make.again(made)


def waiting(by: User | None = None) -> Run:
    """Worked for a minute, and has waited for a person for days."""
    clock = Clock(days=2, hours=3)
    made = run("Refund order 10382", clock, by, status=Status.WAITING)
    Run.objects.filter(pk=made.pk).update(updated_at=clock.at(63))
    steps = [
        (2, "load_order"),
        (6, "assess"),
        (21, "lookup_policy"),
        (28, "draft_refund"),
        (61, "approval_gate"),
    ]
    ids = chain(made, clock, steps)
    make.write(
        made, ids[-1], "t-gate", PULL + "approval_gate", channel="__interrupt__", at=clock.at(62)
    )
    question(made, clock, "t-gate", 63)
    attempt(made, clock, 1, 1, 63, outcome=Outcome.WAITED)
    make.lease(made, fence=1, renewed_at=clock.at(60), progress_at=clock.at(61))
    return make.again(made)


def killed(by: User | None = None) -> Run:
    """A worker was killed in a call; another found out, asked, and finished."""
    clock = Clock(hours=5)
    made = run("Refund order 10371", clock, by, status=Status.SUCCEEDED, ended=4204)
    steps = [
        (2, "load_order"),
        (9, "assess"),
        (24, "pay"),
        (152, "approval_gate"),
        (4196, "notify"),
        (4203, ""),
    ]
    ids = chain(made, clock, steps, fence=lambda s: 1 if s < 100 else 2 if s < 1000 else 3)
    make.write(made, ids[2], "t-pay", PULL + "pay", at=clock.at(151))
    make.write(made, ids[3], "t-gate", PULL + "approval_gate", at=clock.at(4195))
    made_effect = effect(made, clock, "t-pay", [(27, 112, "unknown")], updated=141)
    HookEvent.objects.create(
        provider="fakepay",
        event="evt_1",
        kind="refund.updated",
        heard="confirmed",
        meaning="happened",
        effect=made_effect,
        provider_ref="re_41b7",
        digest="0" * 64,
        at=clock.at(141),
    )
    Look.objects.create(
        effect=made_effect,
        provider_key="k",
        attempt=1,
        answer="silent",
        counts=False,
        error="503",
        at=clock.at(126),
    )
    question(made, clock, "t-gate", 153, 4180)
    effect(
        made,
        clock,
        "t-notify",
        [(4197, 4198, "retryable"), (4200, 4202, "succeeded")],
        tool="mail.send",
        node="notify",
    )
    make.write(made, ids[4], "t-notify", PULL + "notify", at=clock.at(4203))
    attempt(made, clock, 1, 1, 104, outcome=Outcome.LOST, seen_at=34, expired_at=64, holder=LOST)
    attempt(made, clock, 2, 104, 153, outcome=Outcome.WAITED, holder=NEXT, cause="taken over")
    attempt(made, clock, 3, 4181, 4204, outcome=Outcome.FINISHED, holder=NEXT, cause="decision")
    make.lease(made, fence=3, renewed_at=clock.at(4200))
    return make.again(made)


def branches(by: User | None = None, many: int = 30) -> Run:
    """Many tasks of one step beside each other, some of them still at work."""
    clock = Clock(minutes=3)
    made = run("Reconcile 30 invoices", clock, by, status=Status.RUNNING)
    ids = chain(made, clock, [(2, "split")])
    make.checkpoint(made, 1, at=clock.at(8), updated=["__pregel_tasks"], sent=["reconcile"])
    step = f"1f0{1:05x}-0000-6000-8000-000000000000"
    for index in range(many):
        sent: dict[str, Any] = {"channel": "__pregel_tasks", "at": clock.at(7), "index": index}
        make.write(made, ids[0], "t-split", PULL + "split", **sent)
    for number in range(many - 4):
        path = f"{PUSH}{number:010}, 0000000000"
        make.write(made, step, f"t-{number:02}", path, at=clock.at(20 + (number * 37) % 120))
    for number in range(many - 4, many - 1):
        effect(
            made,
            clock,
            f"t-{number}",
            [(30 + number, 40, "open")],
            tool="ledger.post",
            status="pending",
            node="reconcile",
        )
    path = f"{PUSH}{many - 1:010}, 0000000000"
    make.write(made, step, f"t-{many - 1}", path, channel="__interrupt__", at=clock.at(90))
    question(made, clock, f"t-{many - 1}", 90, node="reconcile")
    attempt(made, clock, 1, 1, None, holder=LOST)
    alive(made, LOST, "Invoice 26 of 30")
    return make.again(made)


def nested(by: User | None = None) -> Run:
    """A graph within a graph within the graph."""
    clock = Clock(minutes=2)
    made = run("Onboard supplier Pike & Sons", clock, by, status=Status.RUNNING)
    ids = chain(made, clock, [(2, "intake"), (6, "research"), (61, "check+score+screen")])
    make.write(made, ids[0], "t-in", PULL + "intake", at=clock.at(5.9))
    make.write(made, ids[1], "t-research", PULL + "research", at=clock.at(60))
    inner, deep = "research:t-research", "research:t-research|crawl:t-crawl"
    within = chain(
        made, clock, [(7, "plan"), (12, "crawl"), (49, "summarise"), (59, "")], ns=inner, first=10
    )
    make.write(made, within[1], "t-crawl", PULL + "crawl", at=clock.at(48), ns=inner)
    chain(made, clock, [(13, "fetch"), (30, "parse"), (47, "")], ns=deep, first=20)
    make.write(made, ids[2], "t-check", PULL + "check", at=clock.at(84))
    effect(
        made,
        clock,
        "t-score",
        [(70, 75, "succeeded"), (90, 0, "open")],
        tool="credit.ask",
        status="pending",
        node="score",
    )
    attempt(made, clock, 1, 1, None, holder=NEXT)
    alive(made, NEXT)
    return make.again(made)


def failed(by: User | None = None) -> Run:
    """An error came again at each try."""
    clock = Clock(minutes=20)
    error = {"error_class": "ProviderTimeout", "error": "no answer from crm within 10 s"}
    made = run("Push notes to the CRM", clock, by, status=Status.FAILED, ended=214, **error)
    chain(made, clock, [(1.5, "collect"), (9, "push_notes")])
    for fence, start in enumerate((1, 60, 200), start=1):
        attempt(
            made,
            clock,
            fence,
            start,
            start + 14,
            outcome=Outcome.RAISED,
            holder=NEXT,
            cause="retry",
            failure={},
            **error,
        )
    make.lease(made, fence=3, renewed_at=clock.at(212))
    return make.again(made)


def long(by: User | None = None, steps: int = 400) -> Run:
    """A loop of a model and its tools that goes on and on."""
    clock = Clock(hours=2)
    made = run("Triage the mailbox", clock, by, status=Status.RUNNING)
    nodes = [(2 + 15 * n, "tools" if n % 2 else "model") for n in range(steps)]
    chain(made, clock, nodes)
    attempt(made, clock, 1, 1, None, holder=NEXT)
    alive(made, NEXT)
    return make.again(made)


ALL = (short, waiting, killed, branches, nested, failed, long)
