"""Named places at which a drill may stop or kill the process. Nothing is installed in production.

A place is a call `reach("name", run_id)`; with no hook installed it costs one comparison.
"""

from __future__ import annotations

from collections.abc import Callable
from uuid import UUID

Hook = Callable[[str, str], None]

_hook: Hook | None = None


def install(hook: Hook | None) -> None:
    """Call `hook(name, run id)` at every place from now on in this process; None removes it."""
    global _hook
    _hook = hook


def reach(name: str, run_id: UUID | str) -> None:
    if _hook is not None:
        _hook(name, str(run_id))
