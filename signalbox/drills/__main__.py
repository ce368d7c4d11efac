"""The process that conducts, started by `manage.py drill` on the scratch services it has made.

    python -m signalbox.drills STATE LOGS REPORT TRIALS SEED NAME…

Exit status 0: the report is written; 1: the drill could not be played, which stderr explains.
"""

from __future__ import annotations

import json
import signal
import sys
from pathlib import Path

import django

django.setup()

from signalbox.drills import catalogue, progress  # noqa: E402  (only now are the apps loaded)
from signalbox.drills.conduct import conduct  # noqa: E402
from signalbox.drills.scene import SceneError  # noqa: E402


def main(state: str, logs: str, report: str, trials: str, seed: str, *names: str) -> int:
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    drills = [drill for drill in catalogue.DRILLS if drill.name in names]
    try:
        with progress.shown() as say:
            found = conduct(
                Path(state), Path(logs), drills, trials=int(trials), seed=int(seed), say=say
            )
    except SceneError as error:
        sys.stderr.write(f"{error}\n")
        return 1
    except KeyboardInterrupt:
        return 1
    Path(report).write_text(json.dumps(found.told()))
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
