"""The process that seeds, started by `manage.py seed` with the settings of the originals' agents.

    python -m signalbox.seed RUNS STEPS

Exit status 0: done; 1: it was not possible, which stderr explains.
"""

from __future__ import annotations

import sys
from collections.abc import Callable

import django

django.setup()

from django.db import connection  # noqa: E402  (only now are the apps loaded)

from runs import checkpoints  # noqa: E402
from runs.models import Run  # noqa: E402
from signalbox.drills import progress  # noqa: E402
from signalbox.seed import copies, entries, loading, originals, people, plan, tables  # noqa: E402
from signalbox.seed.originals import Original  # noqa: E402
from signalbox.seed.people import Cast  # noqa: E402

DAY = 86_400.0
ENDED, LIVE = (60.0, 180 * DAY), (60.0, DAY / 2)
"""Seconds ago, newest and oldest. What is not ended yet began lately."""
FIRST_NUMBER = 20_000
LIMITS = ["statement_timeout", "transaction_timeout", "idle_in_transaction_session_timeout"]


def main(runs: str, steps: str) -> int:
    if Run.objects.exists():
        sys.stderr.write("The database has runs already. Seed one that is empty.\n")
        return 1
    with progress.shown() as say:
        seed(int(runs), int(steps), say)
    return 0


def seed(runs: int, steps: int, say: Callable[[str], None]) -> None:
    with connection.cursor() as cursor:
        cursor.execute(  # those that this server has
            "SELECT set_config(name, '0', false) FROM pg_settings WHERE name = ANY(%s)", [LIMITS]
        )
    first = entries.leave_room(runs)
    say("Driving the originals")
    cast = people.make()
    made = originals.drive(cast, steps=steps)
    _plan(made, runs)
    _copy(made, cast, say)
    _record(made, cast, first, say)
    say("Collecting statistics")
    with connection.cursor() as cursor:
        cursor.execute("VACUUM ANALYZE")
    checkpoints.close()


def _plan(made: list[Original], runs: int) -> None:
    plan.prepare()
    number = FIRST_NUMBER
    for original in made:
        count = max(round(runs * original.share), 1)
        newest, oldest = ENDED if original.ended else LIVE
        plan.want(original, count=count, first=number, newest=newest, oldest=oldest)
        number += count
    plan.settle()


def _copy(made: list[Original], cast: Cast, say: Callable[[str], None]) -> None:
    copies.keep([each.run_id for each in made])
    with loading.at_once([table.name for table in tables.found()]):
        for table in copies.copy(plan.words(cast)):
            say(f"Copied {table}")
        say("Making indexes")


def _record(made: list[Original], cast: Cast, first: int, say: Callable[[str], None]) -> None:
    say("Writing the audit log")
    with loading.at_once(["audit_entry"]):
        entries.write([each.run_id for each in made], cast, first=first)
    for sealed in entries.seal_all():
        say(f"Sealed {sealed:,} entries of the audit log")


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
