"""What an exception from a graph means for the run: may it pass by itself, and when?

1. LangGraph's own `task.error` is never read: it stays after recovery.
2. An exception may say so itself with the attributes `transient`, `retry_after` (seconds) and
   `free` (a wait, not an error); the agent's declaration comes next; then the rules below.
3. Connections, time-outs and servers that answer 5xx or 429 may recover. Everything else would
   raise again.
"""

from __future__ import annotations

import httpx
import psycopg
from django.db import InterfaceError, OperationalError
from django.utils.module_loading import import_string
from langgraph.errors import GraphRecursionError, NodeTimeoutError
from psycopg_pool import PoolClosed, PoolTimeout

from runs.moves import Failure
from runs.registry import Declaration
from runs.stop import StopRun

PASSING: tuple[type[BaseException], ...] = (
    ConnectionError,
    TimeoutError,
    NodeTimeoutError,
    OperationalError,
    InterfaceError,
    psycopg.OperationalError,
    psycopg.InterfaceError,
    PoolTimeout,
    PoolClosed,
    httpx.TransportError,
)
PASSING_STATUS = frozenset({408, 425, 429, 500, 502, 503, 504})


def classify(exc: BaseException, declared: Declaration) -> Failure:
    """The failure that `exc` stands for. `tries_left` is for the driver to say."""
    retry_after = getattr(exc, "retry_after", None)
    stopped = exc if isinstance(exc, StopRun) else None
    return Failure(
        error_class=type(exc).__name__,
        error=_text(exc),
        transient=_transient(exc, declared),
        tries_left=True,
        park=stopped.park if stopped else None,
        retry_after=float(retry_after) if isinstance(retry_after, int | float) else None,
        free=bool(getattr(exc, "free", stopped is not None and stopped.park is None)),
    )


def _transient(exc: BaseException, declared: Declaration) -> bool:
    says = getattr(exc, "transient", None)
    if isinstance(says, bool):
        return says
    if isinstance(exc, GraphRecursionError):
        return False
    if declared.transient:
        said = import_string(declared.transient)(exc)
        if said is not None:
            return bool(said)
    if isinstance(exc, httpx.HTTPStatusError):
        return exc.response.status_code in PASSING_STATUS
    return isinstance(exc, PASSING)


def _text(exc: BaseException) -> str:
    """The message as PostgreSQL can store it, cut to a readable length."""
    said = str(exc) or type(exc).__name__
    printable = said.encode("utf-8", "backslashreplace").decode("utf-8").replace("\x00", "\\u{0}")
    return printable[:2000]
