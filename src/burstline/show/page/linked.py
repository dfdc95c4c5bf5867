"""Sentences as markup: each number is a link to its place on the page."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from burstline.answers import Fact, Sentence, text_of
from burstline.show.page.html import Html, join, link, tag

Target = Callable[[Fact], str]
"""Where on the page more is told of a fact."""


def linked(
    sentences: Iterable[Sentence], target: Target, command: str, *, strong: bool = False
) -> Html:
    """Sentences whose numbers lead to their places; a title names the command that prints them.

    With `strong` the first number stands out.
    """
    parts: list[Html] = []
    for each in sentences:
        if parts:
            parts.append(join(" "))
        text, begin = each.sentence, 0
        for fact in each.facts:
            told = text_of(fact)
            at = text.find(told, begin)
            if at < 0:
                continue
            number = link(target(fact), told, title=command)
            if strong:
                number, strong = tag("b", number), False
            parts += [join(text[begin:at]), number]
            begin = at + len(told)
        parts.append(join(text[begin:]))
    return join(*parts)
