"""The refund desk once more, as a workflow of LangGraph's functional API."""

from __future__ import annotations
