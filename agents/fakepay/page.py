"""What a person sees at the provider: the refunds performed, and the requests that came in.

Plain HTML, everything escaped, no script.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape

from agents.fakepay.storage import Row

TOP = """<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>fakepay</title>
<style>
:root { color-scheme: light dark; font: 16px/1.5 system-ui, sans-serif }
body { max-width: 75rem; margin: 2rem auto; padding: 0 1rem }
.wide { overflow-x: auto }
table { border-collapse: collapse; width: 100%; font-size: .875rem }
th, td { text-align: left; padding: .375rem .75rem .375rem 0; border-bottom: 1px solid #8886 }
th, td { white-space: nowrap; font-variant-numeric: tabular-nums }
.key { white-space: normal; overflow-wrap: anywhere; min-width: 16rem }
</style>
<h1>fakepay, the example payment provider</h1>
"""
HEADS = {
    "amount": "Amount",
    "answer": "Answer",
    "at": "When (UTC)",
    "fault": "Fault",
    "id": "Id",
    "key": "Idempotency key",
    "method": "Method",
    "order_id": "Order",
    "path": "Path",
    "recipient": "To",
    "refund_id": "Refund",
    "subject": "Subject",
}


def render(counts: dict[str, int], recent: dict[str, list[Row]], *, dedup: bool) -> str:
    """The whole page. `recent` holds the newest rows of each table, newest first."""
    refunds = [{**row, "amount": _amount(row)} for row in recent["refunds"]]
    switch = "on" if dedup else "off"
    return "".join(
        [
            TOP,
            f"<p><strong>{_count(counts['refunds'], 'refund')} performed</strong>",
            f" for {_count(counts['orders'], 'order')}.",
            f" {_count(counts['mails'], 'mail')} sent.",
            f" {_count(counts['requests'], 'request')} received.",
            f" Deduplication by key is {switch}.</p>\n",
            _table("Refunds performed", ("at", "id", "order_id", "amount", "key"), refunds),
            _table(
                "Refunds taken back",
                ("at", "id", "refund_id", "key"),
                recent["cancellations"],
            ),
            _table("Mails sent", ("at", "id", "recipient", "subject", "key"), recent["mails"]),
            _table(
                "Requests received",
                ("id", "at", "method", "path", "key", "fault", "answer"),
                recent["requests"],
            ),
            "</html>\n",
        ]
    )


def _table(title: str, columns: Sequence[str], rows: Iterable[Row]) -> str:
    heads = "".join(f"<th scope=col>{HEADS[column]}</th>" for column in columns)
    lines = [
        "<tr>"
        + "".join(f"<td class={column}>{_cell(row[column])}</td>" for column in columns)
        + "</tr>\n"
        for row in _timed(rows)
    ]
    body = f"<tr>{heads}</tr>\n{''.join(lines)}"
    table = f"<div class=wide><table>{body}</table></div>" if lines else "<p>None yet.</p>"
    return f"<h2>{title}</h2>\n{table}\n"


def _cell(value: object) -> str:
    """Escaped text in which invisible characters show: a key or path may hold anything."""
    text = "" if value is None else str(value)
    shown = "".join(
        char if char.isprintable() else char.encode("unicode_escape").decode() for char in text
    )
    return escape(shown)


def _timed(rows: Iterable[Row]) -> list[Row]:
    """The rows with times as people read them; the heading says that they are UTC."""
    return [{**row, "at": str(row["at"]).replace("T", " ").removesuffix("Z")} for row in rows]


def _amount(row: Row) -> str:
    units, cents = divmod(int(str(row["amount_cents"])), 100)
    return f"{units}.{cents:02d} {row['currency']}"


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"
