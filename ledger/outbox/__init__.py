"""The outbox: what others are to be told, written in the transaction in which it becomes true.

1. A message exists if and only if the transaction that added it has committed.
2. It goes out at least once, never exactly once: who sends it may die after the receiver has taken
   it and before that is written down. The receiver gets the message's id and knows a repeat by it.
3. One message per destination and key, however often it is added: code that is run again, such as
   a node after a crash, adds nothing new. In a node the key belongs to the run, and only the driver
   that holds the lease may add.
4. Messages with the same order key go out one after another, in the order in which they were added;
   who adds them must already take turns, for instance by holding the lock of one row. One that is
   given up no longer holds the others up.
"""

from __future__ import annotations

from ledger.outbox.adding import add
from ledger.outbox.letters import Handler, Letter

__all__ = ["Handler", "Letter", "add"]
