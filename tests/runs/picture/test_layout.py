"""Where the nodes of a graph are drawn: numbers only."""

from __future__ import annotations

from itertools import combinations

from hypothesis import given
from hypothesis import strategies as st

from runs.picture.layout import LONGEST, MARGIN, place, shown
from runs.picture.shape import END, START, Edge, Shape


def shape(*edges: str, below: dict[str, Shape] | None = None) -> Shape:
    """Edges like "a>b"; "a?>b" is conditional."""
    made = []
    for each in edges:
        source, _sign, target = each.partition(">")
        made.append(
            Edge(source=source.rstrip("?"), target=target, conditional=source.endswith("?"))
        )
    nodes = dict.fromkeys(name for edge in made for name in (edge.source, edge.target))
    return Shape(nodes=tuple(nodes), edges=tuple(made), below=tuple((below or {}).items()))


def spots(drawn: Shape):
    return {spot.name: spot for spot in place(drawn).spots}


def test_every_node_stands_right_of_those_that_lead_to_it() -> None:
    found = spots(shape("a>b", "a>c", "b>d", "c>d", "a>d"))
    assert found["a"].x < found["b"].x == found["c"].x < found["d"].x
    assert found["b"].y != found["c"].y


def test_an_edge_that_leads_back_does_not_count_for_columns() -> None:
    drawn = place(shape("model?>tools", "tools>model", "model?>end"))
    assert [line.conditional for line in drawn.lines] == [True, True, False]
    found = {spot.name: spot for spot in drawn.spots}
    assert found["model"].x < found["tools"].x
    lowest = max(spot.y + spot.height for spot in drawn.spots)
    assert drawn.height > lowest + MARGIN


def test_an_edge_over_several_columns_goes_around_what_stands_between() -> None:
    drawn = place(shape("a>b", "b>c", "c>d", "a>d"))
    (long,) = [line.path for line in drawn.lines if line.path.count("C") == 3]
    assert long.startswith("M")
    ys = {spot.y for spot in drawn.spots if spot.name in "bc"}
    assert ys == {spots(shape("a>b", "b>c", "c>d", "a>d"))["b"].y}


def test_a_graph_within_a_node_is_inside_of_its_box() -> None:
    inner = shape("x>y", "y>z")
    (box,) = [spot for spot in place(shape("a>g", "g>b", below={"g": inner})).spots if spot.within]
    assert box.within is not None
    assert box.width >= box.within.width
    assert box.height > box.within.height


def test_the_start_and_the_end_are_dots() -> None:
    found = spots(shape(f"{START}>a", f"a>{END}"))
    assert found[START].width == found[START].height == found[END].width
    assert found["a"].width > found[START].width


def test_a_long_name_is_cut() -> None:
    assert len(shown("x" * 80)) == LONGEST


names = st.sampled_from("abcdefghij")


@given(st.lists(st.tuples(names, names), max_size=24))
def test_any_graph_is_drawn_and_nothing_covers_anything(pairs) -> None:
    drawn = place(shape(*(f"{a}>{b}" for a, b in sorted(set(pairs))), f"{START}>a"))
    for one, other in combinations(drawn.spots, 2):
        beside = one.x + one.width <= other.x or other.x + other.width <= one.x
        assert beside or one.y + one.height <= other.y or other.y + other.height <= one.y
    assert all(spot.x + spot.width < drawn.width for spot in drawn.spots)
    assert all(0 < spot.y < spot.y + spot.height < drawn.height for spot in drawn.spots)
    assert len(drawn.lines) == len(set(pairs) | {(START, "a")})
