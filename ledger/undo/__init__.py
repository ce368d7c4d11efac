"""Taking effects back: compensation, when a run has ended and what it did is not wanted.

`plan` is what can be taken back, `ordering` a person's order to do so, `work` how workers carry it
out, `telling` what the run's page says of it, `pages` and `forms` where a person orders it.

1. Nothing is ever taken back by itself. A person orders it, with a permission and a reason, for
   exactly the effects that they were shown.
2. Each undo is an effect of its own: a row with a key made from the original's, performed through
   the same ledger under the run's lease, at most once, and in doubt like any other.
3. The last effect goes first. One that cannot be taken back stops the plan: what came before it may
   be what it rests on.
"""

from __future__ import annotations
