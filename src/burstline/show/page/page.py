"""The frame of a page: one HTML file that needs nothing else, and asks nobody for anything."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Mapping, Sequence
from typing import Any, Final, NamedTuple

from burstline.errors import plural
from burstline.quantities import format_ns
from burstline.show.blocks import Facts
from burstline.show.page.alone import PictureView, asset, pictures_of
from burstline.show.page.charts import patterns
from burstline.show.page.html import Html, link, plain, tag
from burstline.show.page.report import NothingError, Report, Section
from burstline.show.page.sections import (
    code,
    computing,
    coverage,
    flame,
    messages,
    prediction,
    ranks,
    runs,
    timeline,
    verdict,
    waits,
)
from burstline.show.terminal import notebook_html

_SECTIONS: Final[tuple[Any, ...]] = (
    *(verdict, ranks, timeline, code, flame, waits, messages),
    *(computing, runs, prediction, coverage),
)
"""In the order of the questions; each has NAME, LABEL and section(report).

What is shown only where it was given has is_given(report), too.
"""
_STYLES: Final = ("page.css", "pictures.css", "timeline.css", "panes.css")
_SCRIPTS: Final = ("page.js", "pieces.js", "timeline.js", "panes.js", "pictures.js")


class Page(NamedTuple):
    """A page as a file, what it says for programs, and its pictures each by itself.

    A notebook shows the titles of its sections, and its pictures.
    """

    html: bytes
    data: dict[str, Any]
    titles: dict[str, str]  # of its sections, by what leads to them
    pictures: dict[str, PictureView]  # by the name of their section, numbered from the second

    def _repr_html_(self) -> str:
        shown = (block for each in self.pictures.values() for block in each.blocks())
        return notebook_html([Facts(self.titles.items()), *shown])


def report_page(report: Report) -> Page:
    """The page of a report: every section is there, be it with the reason why it is empty."""
    shown = [
        each for each in _SECTIONS if not hasattr(each, "is_given") or each.is_given(report)
    ]
    made = {module.NAME: _section(module, report) for module in shown}
    names = {module.NAME: module.LABEL for module in shown}
    data = {name: section.data for name, section in made.items()}
    titles = {names[name]: plain(section.title) for name, section in made.items()}
    html = _document(report, made, names).encode("utf-8", "replace")
    drawn = {name: (plain(each.title), each.body) for name, each in made.items()}
    return Page(html, data, titles, pictures_of(drawn))


def _section(module: Any, report: Report) -> Section:  # noqa: ANN401 -- a module of sections
    try:
        made: Section = module.section(report)
    except NothingError as nothing:
        return Section(
            module.EMPTY, tag("p", str(nothing), class_="sub"), {"missing": str(nothing)}
        )
    except Exception as error:  # noqa: BLE001 -- the others are shown all the same
        said = (
            f"This section failed, which is a bug of burstline: {type(error).__name__}: {error}"
        )
        return Section(module.EMPTY, tag("p", said, class_="alarm"), {"failed": said})
    return made


def _document(report: Report, made: Mapping[str, Section], names: Mapping[str, str]) -> str:
    styles = [asset(name) for name in _STYLES]
    scripts = [asset(name) for name in _SCRIPTS]
    policy = (
        f"default-src 'none'; script-src {_hashes(scripts)}; style-src {_hashes(styles)}; "
        "img-src data:; base-uri 'none'; form-action 'none'"
    )
    head = tag(
        "head",
        tag("meta", charset="utf-8"),
        tag("meta", http_equiv="Content-Security-Policy", content=policy),
        tag("meta", name="viewport", content="width=device-width, initial-scale=1"),
        tag("meta", name="generator", content=f"burstline {report.source.version}"),
        tag("title", " · ".join([*_named(report), "burstline"])),
        *(_raw("style", each) for each in styles),
    )
    sections = [
        tag("section", _title(number, section.title), section.body, id=name, tabindex=-1)
        for number, (name, section) in enumerate(made.items(), start=1)
    ]
    body = tag(
        "body",
        link("main", "To the content", class_="skip"),
        patterns(),
        _bar(report, names),
        tag("main", _part(report), *sections, _footer(report), id="main"),
        *(_raw("script", each) for each in scripts),
    )
    return f"<!doctype html>\n{tag('html', head, body, lang='en')}\n"


def _part(report: Report) -> Html | None:
    """Which part of the run the page is of, if it is not all."""
    if not report.source.region:
        return None
    said = (
        f"Only a part of the run: {report.source.region}. Steps are counted in it, and what "
        "a rank does outside of it counts as not recorded."
    )
    return tag("p", said, class_="part")


def _title(number: int, title: Html | str) -> Html:
    if number == 1:
        return tag("h1", title)
    return tag("h2", tag("span", str(number), class_="no"), title)


def _bar(report: Report, names: Mapping[str, str]) -> Html:
    box = tag(
        "input",
        id="search",
        type="search",
        placeholder="Find  /",
        aria_label="Find a function, line or rank",
        autocomplete="off",
    )
    summary = report.summary
    size = plural(summary.ranks, "rank"), format_ns(summary.duration_ns)
    return tag(
        "header",
        tag(
            "div",
            tag("b", "burstline"),
            tag("span", " · ".join([*_named(report), *size]), class_="run"),
            tag(
                "nav",
                *(link(name, label) for name, label in names.items()),
                aria_label="Sections",
            ),
            tag(
                "div", box, tag("ol", id="found", aria_live="polite"), class_="search needs-js"
            ),
            tag("button", "Dark", id="theme", type="button", class_="needs-js"),
        ),
    )


def _named(report: Report) -> list[str]:
    """The run, and the part of it that is told."""
    source = report.source
    path = source.paths[0] if source.paths else "run"
    name = path.rstrip("/").rpartition("/")[2].removesuffix(".gz").removesuffix(".prv")
    return [name, source.region] if source.region else [name]


def _footer(report: Report) -> Html:
    return tag(
        "footer",
        f"Made by burstline {report.source.version} on {report.source.made}. "
        "This page is one file: it asks nothing of a network.",
    )


def _raw(name: str, content: str) -> Html:
    """A script or style, whose content is none of markup; ours never end themselves."""
    assert "</" + name not in content  # noqa: S101 -- our own files
    return Html(f"<{name}>{content}</{name}>")


def _hashes(contents: Sequence[str]) -> str:
    """The sources that a policy allows: these contents and no others."""
    digests = (hashlib.sha256(content.encode()).digest() for content in contents)
    return " ".join(f"'sha256-{base64.b64encode(each).decode()}'" for each in digests)
