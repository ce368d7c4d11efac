"""fakepay, the example payment provider: a program of its own, with its own storage.

It stands for the world outside: what its storage file says was refunded is what happened, whatever
Signalbox believes. So nothing here but `client` may import Django or another part of Signalbox.

    python -m agents.fakepay --port 8940 --storage fakepay.sqlite3

`storage` is what it remembers, `faults` how it can misbehave, `provider` what a call does, `events`
what it tells by webhook, `server` how calls arrive, `page` what a person sees; `client` is what
agents import.
"""

from __future__ import annotations
