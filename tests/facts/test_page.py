"""docs/langgraph.md tells of every fact that is tested, and of no other."""

from __future__ import annotations

import re
from pathlib import Path

HERE = Path(__file__).parent
PAGE = HERE.parent.parent / "docs" / "langgraph.md"


def written() -> dict[str, dict[str, bool]]:
    """Per fact and file: whether a test of ours is among its tests, and one of LangGraph alone."""
    found: dict[str, dict[str, bool]] = {}
    for file in HERE.glob("test_*.py"):
        for number, words in re.findall(r"^def test_f(\d+)_(\w+)", file.read_text(), re.M):
            kinds = found.setdefault(f"F{number} {file.name}", {})
            kinds["ours" if words.startswith("our_") else "langgraph's"] = True
    return found


def test_every_fact_is_on_the_page_and_tested_twice() -> None:
    rows = re.findall(r"^\| (F\d+) \|.*`test_(f\d+)_\*` in `(\w+\.py)` \|$", PAGE.read_text(), re.M)
    assert [number.lower() for number, _, _ in rows] == [name for _, name, _ in rows]
    found = written()
    assert sorted(found) == sorted(f"{number} {file}" for number, _, file in rows)
    assert all(len(kinds) == 2 for kinds in found.values()), found
