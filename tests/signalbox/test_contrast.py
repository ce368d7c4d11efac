"""WCAG 2.2, from the tokens: text 4.5 to 1, edges and marks 3 to 1, in both themes."""

from __future__ import annotations

import math
import re
from pathlib import Path

import pytest
from django.conf import settings

TOKENS = Path(settings.BASE_DIR, "static/css/tokens.css")
OKLCH = r"oklch\(([\d.]+)% ([\d.]+) ([\d.]+)\)"
BOTH = re.compile(rf"--([\w-]+):\s*light-dark\({OKLCH}, {OKLCH}\)")
GROUNDS = ("canvas", "surface", "surface-sunk")
TONES = ("neutral", "info", "human", "ok", "warn", "bad")

Colour = tuple[float, float, float]


def tokens() -> dict[str, tuple[Colour, Colour]]:
    """Name to (light, dark), each lightness, chroma and hue."""
    found = {}
    for match in BOTH.finditer(_named(TOKENS.read_text())):
        numbers = [float(number) for number in match.groups()[1:]]
        found[match[1]] = (
            (numbers[0] / 100, numbers[1], numbers[2]),
            (numbers[3] / 100, numbers[4], numbers[5]),
        )
    return found


def _named(css: str) -> str:
    """The fg of .tone-ok is called ok-fg; that of the tone from which all start, neutral-fg."""
    rules = re.findall(r"(\[class\*=tone-\]|\.tone-\w+)[^{]*\{(.*?)\}", css, re.DOTALL)
    for selector, rule in rules:
        name = selector.removeprefix(".tone-") if selector.startswith(".") else "neutral"
        css = css.replace(rule, re.sub(r"--(\w+):", rf"--{name}-\1:", rule))
    return css


def luminance(colour: Colour) -> float:
    """Relative luminance in sRGB; what lies outside it loses chroma, as browsers do it."""
    lightness, chroma, hue = colour
    while True:
        a, b = chroma * math.cos(math.radians(hue)), chroma * math.sin(math.radians(hue))
        long = (lightness + 0.3963377774 * a + 0.2158037573 * b) ** 3
        middle = (lightness - 0.1055613458 * a - 0.0638541728 * b) ** 3
        short = (lightness - 0.0894841775 * a - 1.2914855480 * b) ** 3
        linear = (
            4.0767416621 * long - 3.3077115913 * middle + 0.2309699292 * short,
            -1.2684380046 * long + 2.6097574011 * middle - 0.3413193965 * short,
            -0.0041960863 * long - 0.7034186147 * middle + 1.7076147010 * short,
        )
        if all(-1e-4 <= part <= 1.0001 for part in linear):
            break
        chroma *= 0.97
    red, green, blue = (min(1.0, max(0.0, part)) for part in linear)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(one: Colour, other: Colour) -> float:
    dark, light = sorted((luminance(one), luminance(other)))
    return (light + 0.05) / (dark + 0.05)


PAIRS = [
    *((name, ground, 4.5) for name in ("ink", "ink-soft", "accent") for ground in GROUNDS),
    *((name, ground, 3.0) for name in ("line-strong", "focus") for ground in GROUNDS),
    *(("accent-strong", ground, 4.5) for ground in GROUNDS),
    ("on-accent", "accent", 4.5),
    ("on-accent", "accent-strong", 4.5),
    *((f"{tone}-fg", f"{tone}-bg", 4.5) for tone in TONES),
    *((f"{tone}-fg", ground, 4.5) for tone in TONES for ground in GROUNDS),
    *((f"{tone}-solid", ground, 3.0) for tone in TONES for ground in ("canvas", "surface")),
]


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize(("front", "ground", "least"), PAIRS)
def test_colours_can_be_told_apart(front, ground, least, theme) -> None:
    index = ("light", "dark").index(theme)
    found = tokens()
    assert contrast(found[front][index], found[ground][index]) >= least


def test_contrast_is_measured_as_wcag_says() -> None:
    black, white, grey = (0.0, 0.0, 0.0), (1.0, 0.0, 0.0), (0.5999, 0.0, 0.0)
    assert contrast(black, white) == pytest.approx(21, abs=0.01)
    assert contrast(grey, white) == pytest.approx(3.95, abs=0.1)


def test_no_other_file_holds_a_raw_colour() -> None:
    raw = re.compile(r"#[0-9a-f]{3,8}\b|\b(?:rgb|hsl|oklch|color-mix)\(", re.IGNORECASE)
    for path in TOKENS.parent.glob("*.css"):
        if path != TOKENS:
            assert not raw.search(path.read_text()), path
