"""What does sealing cost those who record, and how long does a proof take?

    .venv/bin/python -m benchmarks.audit [--writers 8] [--seconds 5] [--rounds 4]
        [--entries 100000] [--json FILE|-]

Writers in processes of their own record one entry per transaction. Rounds with and without a sealer
(its own process, every second, as beat has it) alternate after a warm-up; the medians are compared.
A run in which the sealer falls behind gives no result: its writers would be fast on credit.

Then the log is filled up to `--entries`, sealed and proved.

JSON: {"plain": entries per second, "sealed": entries per second, "ratio": sealed / plain,
       "entries": proved, "verify": seconds, "verify_cpu": seconds of this process}
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import sys
import time
from multiprocessing import Queue, get_context
from multiprocessing.synchronize import Barrier
from pathlib import Path

import django

from signalbox.embedded import places, services

EVERY = 1.0
"""Seconds between two passes of the sealer."""
GRACE = 0.5
"""Seconds for the last transactions of a round to end."""
KEPT_UP = 0.8
"""Share of a round's entries that must be sealed at its end."""
PATIENCE = 300.0
FILL = """
INSERT INTO audit_entry (verb, actor_kind, actor_id, actor_label, entry, target_kind, target_id,
                         run_id, allowed, reason, data, digest)
SELECT verb, actor_kind, actor_id, actor_label, entry, target_kind, target_id,
       run_id, allowed, reason, data, digest
  FROM audit_entry, generate_series(1, %(entries)s - (SELECT count(*) FROM audit_entry))
 WHERE id = (SELECT min(id) FROM audit_entry)
"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--writers", type=int, default=8)
    parser.add_argument("--seconds", type=float, default=5, help="length of a round")
    parser.add_argument("--rounds", type=int, default=4, help="rounds of each kind")
    parser.add_argument("--entries", type=int, default=100_000, help="entries that are proved")
    parser.add_argument("--json", default="", metavar="FILE|-")
    options = parser.parse_args()
    with services.scratch() as state:
        os.environ |= places.environment(state) | {"LOG_LEVEL": "ERROR"}
        result = measure(options.writers, options.seconds, options.rounds)
        result |= prove(options.entries)
    line = json.dumps(result)
    if options.json and options.json != "-":
        Path(options.json).write_text(line + "\n")
    sys.stdout.write(line + "\n")


def measure(writers: int, seconds: float, rounds: int) -> dict[str, float]:
    # A warm-up, then in turns; neither kind always comes first.
    plan = ["sealed", *(("plain", "sealed")[(n + n // 2) % 2] for n in range(rounds * 2))]
    context = get_context("spawn")
    together = context.Barrier(writers + 2)
    counts: Queue[tuple[str, int]] = context.Queue()
    roles = ["write"] * writers + ["seal"]
    hands = [
        context.Process(target=hand, args=(role, plan, seconds, together, counts), daemon=True)
        for role in roles
    ]
    migrate()
    for one in hands:
        one.start()
    rates: dict[str, list[float]] = {"plain": [], "sealed": []}
    for done, kind in enumerate(plan):
        together.wait(PATIENCE)
        found = [counts.get(timeout=PATIENCE) for _ in hands]
        written = sum(count for role, count in found if role == "write")
        sealed = sum(count for role, count in found if role == "seal")
        if kind == "sealed" and sealed < written * KEPT_UP:
            raise SystemExit("the sealer fell behind, so there is nothing to compare")
        if done:
            rates[kind].append(written / seconds)
        if sys.stderr.isatty():
            sys.stderr.write(f"\rround {done} of {rounds * 2}")
    medians = {kind: statistics.median(each) for kind, each in rates.items()}
    return {
        "plain": round(medians["plain"], 1),
        "sealed": round(medians["sealed"], 1),
        "ratio": round(medians["sealed"] / medians["plain"], 3),
    }


def prove(entries: int) -> dict[str, float]:
    """Fill the log up to so many entries, seal them, and time the proof of the whole."""
    from django.db import connection  # noqa: PLC0415

    from audit import seal, verify  # noqa: PLC0415

    with connection.cursor() as cursor:
        cursor.execute(FILL, {"entries": entries})
    while seal.seal():
        pass
    began, spent = time.perf_counter(), time.process_time()
    report = verify.verify()
    took, spent = time.perf_counter() - began, time.process_time() - spent
    if not report.ok:
        raise SystemExit(f"the log is not intact: {report.problems[0].what}")
    return {"entries": report.checked, "verify": round(took, 2), "verify_cpu": round(spent, 2)}


def migrate() -> None:
    set_up()
    from django.core.management import call_command  # noqa: PLC0415

    call_command("migrate", verbosity=0)


def set_up() -> None:
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "signalbox.settings")
    django.setup()


def hand(
    role: str, plan: list[str], seconds: float, together: Barrier, counts: Queue[tuple[str, int]]
) -> None:
    """One process: plays its role in every round and says how many entries it wrote or sealed."""
    set_up()
    # Only now do models exist.
    from accounts.actors import Actor  # noqa: PLC0415
    from audit import seal, trail  # noqa: PLC0415

    actor = Actor.command("benchmark")

    def write(end: float) -> int:
        count = 0
        while time.monotonic() < end:
            trail.record(
                "run.started",
                actor=actor,
                target=("run", f"{os.getpid()}-{count}"),
                data={"agent": "refund_desk", "version": "1.0", "input": {"order_id": count}},
            )
            count += 1
        return count

    def keep_sealing(end: float) -> int:
        count = 0
        while (now := time.monotonic()) < end:
            count += seal.seal()
            time.sleep(max(0.0, min(now + EVERY, end) - time.monotonic()))
        time.sleep(GRACE)
        return count + seal.seal()

    def seal_rest(end: float) -> int:
        time.sleep(max(0.0, end - time.monotonic()) + GRACE)
        while seal.seal():
            pass
        return 0

    for kind in plan:
        together.wait(PATIENCE)
        act = write if role == "write" else keep_sealing if kind == "sealed" else seal_rest
        counts.put((role, act(time.monotonic() + seconds)))


if __name__ == "__main__":
    main()
