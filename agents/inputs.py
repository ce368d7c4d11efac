"""What the example agents are given, as JSON Schema: forms and commands refuse anything else."""

from __future__ import annotations

from typing import Any


def order(example: str) -> dict[str, Any]:
    """The input of an agent that works on one order."""
    return {
        "type": "object",
        "properties": {
            "order_id": {
                "type": "string",
                "pattern": "^[0-9]{5}$",
                "description": "The number of an order: five digits, as text.",
                "examples": [example],
            }
        },
        "required": ["order_id"],
        "additionalProperties": False,
    }
