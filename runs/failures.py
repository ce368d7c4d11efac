"""What an exception from a graph means for the run: may it pass by itself, and when?

1. LangGraph's own `task.error` is never read: it stays after recovery.
2. An exception may say so itself with the attributes `transient`, `retry_after` (seconds) and
   `free` (a wait, not an error); the agent's declaration comes next; then the rules below.
3. Connections, time-outs and servers that answer 5xx or 429 may recover. Everything else would
   raise again.
"""

from __future__ import annotations

import logging

import httpx
import psycopg
from django.db import InterfaceError, OperationalError
from django.utils.module_loading import import_string
from langgraph.errors import GraphRecursionError, NodeTimeoutError, is_invalid_resume
from psycopg_pool import PoolClosed, PoolTimeout

from audit import canonical
from runs.moves import Failure
from runs.registry import Declaration
from runs.status import Park
from runs.stop import AskAnew, StopRun

logger = logging.getLogger(__name__)

LONGEST = 7 * 24 * 3600
"""Seconds that an exception may ask to be left alone for; a larger number is a mistake."""
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
    """The failure that `exc` stands for. `tries_left` is for the driver to say. Raises nothing,
    whatever the exception does when it is asked.
    """
    stopped = exc if isinstance(exc, StopRun) else None
    free = _says(exc, "free")
    return Failure(
        error_class=type(exc).__name__,
        error=_text(exc),
        transient=_transient(exc, declared),
        tries_left=True,
        park=stopped.park if stopped else _refused(exc),
        retry_after=_seconds(_says(exc, "retry_after")),
        free=free is True or (free is None and stopped is not None and stopped.park is None),
        ask_anew=isinstance(exc, AskAnew),
    )


def _says(exc: BaseException, name: str) -> object:
    """What an exception says of itself by this attribute; None if nothing, or if asking raises."""
    try:
        return getattr(exc, name, None)
    except Exception:
        logger.exception("%s raises when it is asked for %s", type(exc).__name__, name)
        return None


def _seconds(said: object) -> float | None:
    """A wait that can be kept; None for anything else. At most LONGEST."""
    if isinstance(said, bool) or not isinstance(said, int | float) or not said >= 0:
        return None
    return float(min(said, LONGEST))


def _refused(exc: BaseException) -> Park | None:
    """LangGraph did not take an answer that does not fit the type of its question.

    People's answers fit the JSON Schema of that type; its own validators may want more.
    """
    return Park.BAD_ANSWER if is_invalid_resume(exc) else None


def _transient(exc: BaseException, declared: Declaration) -> bool:
    says = _says(exc, "transient")
    if isinstance(says, bool):
        return says
    if isinstance(exc, GraphRecursionError):
        return False
    said = _declared(exc, declared)
    if said is not None:
        return said
    if isinstance(exc, httpx.HTTPStatusError):
        return exc.response.status_code in PASSING_STATUS
    return isinstance(exc, PASSING)


def _declared(exc: BaseException, declared: Declaration) -> bool | None:
    """What the agent's own function says; None if there is none, or if it cannot tell."""
    if not declared.transient:
        return None
    try:
        said = import_string(declared.transient)(exc)
    except Exception:
        logger.exception("%s cannot tell about %s", declared.transient, type(exc).__name__)
        return None
    return None if said is None else bool(said)


def _text(exc: BaseException) -> str:
    """The message as PostgreSQL can store it, cut to a readable length."""
    try:
        said = str(exc)
    except Exception as raised:
        said = f"its message cannot be read: {type(raised).__name__}"
    return canonical.text(said or type(exc).__name__)[:2000]
