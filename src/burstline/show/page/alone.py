"""Pictures of a page each by itself: as SVG that needs no style sheet of a page."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from html import escape
from importlib import resources
from typing import Any, Final

from burstline.errors import ParameterError, printable
from burstline.show.blocks import Block, Picture
from burstline.show.page.charts import filled, patterns
from burstline.show.page.html import Html, plain, tag
from burstline.show.page.kinds import LOOKS
from burstline.show.pictures.canvas import Form
from burstline.show.views import Figure, Rows, View

_CHART: Final = re.compile(
    r'<svg class="chart" viewBox="0 0 ([\d.]+) ([\d.]+)"[^>]*>(.*?)</svg>', re.DOTALL
)
_HEAD: Final = re.compile("<h3>(.*?)</h3>", re.DOTALL)
_COLOUR: Final = re.compile(r"--([\w-]+):\s*([^;]+);")
_SHEER: Final = re.compile(r"rgb\((\d+) (\d+) (\d+) / (\d+)%\)")
_MARGIN: Final = 8
_LONGEST: Final = 400
_LEAST: Final = 400
"""Pixels across of a picture that is worth taking along; smaller ones repeat another."""
_LETTER: Final = 6.6
"""Pixels across of a letter of the legend, about."""


@dataclass(frozen=True, slots=True, eq=False)
class PictureView(View):
    """A picture of a page by itself."""

    result: Picture

    def document(self) -> dict[str, Any]:
        """Its title and its drawing."""
        return {"title": self.result.title, "svg": self.result.svg.decode()}

    def rows(self) -> Rows:
        """Nothing: what a picture shows is a table of its section."""
        return (), ()

    def blocks(self) -> Iterator[Block]:
        """Itself."""
        yield self.result

    def figures(self) -> Mapping[str, Figure]:
        """Itself as SVG; a browser makes PNG of it."""
        return {"picture": self._drawn}

    def _drawn(self, form: Form) -> bytes:
        if form != "svg":
            raise ParameterError(
                "pictures of a page are SVG; for PNG, open the page in a browser and click PNG"
            )
        return self.result.svg


def pictures_of(sections: Mapping[str, tuple[str, str]]) -> dict[str, PictureView]:
    """All pictures of sections, by name; each is called as the heading above it, or section."""
    made: dict[str, PictureView] = {}
    for name, (title, body) in sections.items():
        for number, found in enumerate(_CHART.finditer(body), start=1):
            wide, high, inside = found.groups()
            if float(wide) < _LEAST:
                continue
            above = _HEAD.findall(body[: found.start()])
            said = plain(Html(above[-1])) if above else title
            picture = Picture(said, _alone(float(wide), float(high), inside, said))
            made[name if name not in made else f"{name}-{number}"] = PictureView(picture)
    return made


def _alone(wide: float, high: float, inside: str, title: str) -> bytes:
    """A drawing with its hatches, colours and background."""
    kinds, below = _legend(inside, wide, high)
    long, tall = f"{wide + 2 * _MARGIN:g}", f"{below + 2 * _MARGIN:g}"
    opened = (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="{-_MARGIN} {-_MARGIN} {long} {tall}"'
        f' width="{long}" height="{tall}">'
    )
    parts = (
        opened,
        f"<title>{escape(printable(title, limit=_LONGEST))}</title>",
        f"<style>{_style()}</style>",
        patterns(),
        f'<rect x="{-_MARGIN}" y="{-_MARGIN}" width="100%" height="100%" class="ground"/>',
        inside,
        kinds,
        "</svg>\n",
    )
    return "".join(parts).encode("utf-8", "replace")


def _legend(inside: str, wide: float, high: float) -> tuple[str, float]:
    """The kinds of time that a drawing has, with their colours, below it; and where it ends."""
    x, y = 0.0, high + 14
    parts: list[str] = []
    for look in LOOKS:
        if f'class="k-{look.name}"' not in inside:
            continue
        room = 30 + _LETTER * len(look.label)
        if x + room > wide:
            x, y = 0.0, y + 20
        parts += filled(look.name, x, y, 12, 12)
        parts.append(tag("text", look.label, x=x + 18, y=y + 10, class_="axis"))
        x += room
    return "".join(parts), y + 14 if parts else high


@cache
def _style() -> str:
    """How drawings look where it is light, without names: not every program knows these."""
    values = dict(_COLOUR.findall(asset("page.css").partition("}")[0]))
    sheet = asset("pictures.css") + ".ground { fill: var(--paper); }"
    sheet = re.sub(r"var\(--([\w-]+)\)", lambda name: values[name[1]], sheet)
    return _SHEER.sub(lambda of: f"rgba({of[1]},{of[2]},{of[3]},{int(of[4]) / 100:g})", sheet)


def asset(name: str) -> str:
    """A script or style of ours."""
    return resources.files(__package__).joinpath("assets", name).read_text(encoding="utf-8")
