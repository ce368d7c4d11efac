"""What to do about a run that does not go on, for whoever looks at it.

1. `table` has one advice for each state, overlay and reason that can hold a run up: what is wrong,
   what to do about it, who may, and where. Layers above show theirs with their own address.
2. `house` is what holds runs up from outside: workers, broker, sweeper. It is read once per page.
3. `blocks` says which advices apply to one run as it stands; `telling` makes notices of them.
4. Whoever may not do what an advice says is told whom to ask, by name: see `whom`.
"""

from __future__ import annotations
