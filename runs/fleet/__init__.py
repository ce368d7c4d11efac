"""The page of the workers: who drives, what waits for them, what stands still, what must run.

`crews` has the workers, `held` the leases, `backlog` the runs that wait, `pages` the page. Signs of
life of the other parts are in `runs.signs`, what to do about a run is in `runs.advice`.
"""

from __future__ import annotations
