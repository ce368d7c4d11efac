"""Drift: a later attempt of the same step wants another effect than an earlier one did.

A node that runs again must ask for the same effects, or what the first attempt did is done once
more under another key. `ledger.keys` makes keys that stay; drift is what no key can prevent: a
random number or the time in the arguments, another answer of a model, code that was changed.

1. The same step is the same task of the same run (and the same tool call), and the same tool. Loop
   visits, Sends, parallel nodes and tool calls of agents are steps of their own.
2. An attempt drifts when it asks for an effect that is not there, while one that an earlier attempt
   had asked for in this step has not been asked for again. So a loop that comes further than before
   does not drift, and neither does a second effect of the same tool.
3. Code that asks in threads of one node may come in another order. Then the effect that was missed
   is asked for later in the same attempt, and what was noticed is withdrawn.
4. What is noticed is a row with both sides. By policy (`drift="stop"` at the tool, LEDGER_DRIFT)
   the effect is also not started: the run is parked until somebody accepts the other one.
5. One effect is missed once: after that it is compared with nothing any more.

`finding` notices, `deciding` accepts, `explaining` says what differs and why, `pages` shows.
"""

from __future__ import annotations
