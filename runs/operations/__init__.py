"""Operations: one thing done to many runs, in a person's name, by workers in the background.

1. A person sees exactly which runs, gives one reason, and orders. Those runs are written down with
   how each stood; what the filter finds later is no part of it.
2. Each run is dealt with in a transaction of its own, by the function of `runs.controls` that its
   own page calls: the same permission, checked then, the same entry in the audit log. What became
   of it is written in that transaction, so a worker that is killed leaves no run done twice or
   forgotten.
3. A run that stands otherwise than it was shown is left alone, and says so.
4. One worker at a time has the claim of an operation, for a while; another goes on where a killed
   one stopped. A worker that wakes up late finds its item done, and does nothing.
5. Stopping leaves what is done as it is, and the rest alone. It needs no worker.
"""

from __future__ import annotations
