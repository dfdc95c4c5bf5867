"""Phrases: templates filled with facts and names, which keep the facts that stand in them."""

from __future__ import annotations

from string import Formatter
from typing import Final, NamedTuple

from burstline.answers.values import Fact, Place, Sentence
from burstline.errors import plural
from burstline.quantities import format_bytes, format_ns, format_share


class Phrase(NamedTuple):
    """A piece of a sentence, and the facts in it."""

    text: str
    facts: tuple[Fact, ...] = ()


NOTHING: Final = Phrase("")
_PARSE: Final = Formatter().parse


def phrase(template: str, **parts: Fact | Phrase | str) -> Phrase:
    """A template with its parts in their places: facts in their units, phrases, and names.

    >>> phrase("{much} of {what}", much=share("wait", 0.25), what="it").text
    '25.0 % of it'
    """
    texts: dict[str, str] = {}
    facts: list[Fact] = []
    for _, name, _, _ in _PARSE(template):
        if name is None:
            continue
        part = parts[name]
        if isinstance(part, Fact):
            part = Phrase(text_of(part), (part,))
        elif isinstance(part, str):
            part = Phrase(part)
        texts[name] = part.text
        facts += part.facts
    return Phrase(template.format_map(texts), tuple(facts))


def joined(between: str, *phrases: Phrase) -> Phrase:
    """Phrases that say something, with a text between each two."""
    said = [each for each in phrases if each.text]
    facts = tuple(fact for each in said for fact in each.facts)
    return Phrase(between.join(each.text for each in said), facts)


def enumerated(*phrases: Phrase) -> Phrase:
    """Phrases as a, b and c."""
    return joined(" and ", joined(", ", *phrases[:-1]), *phrases[-1:])


def sentence(question: str, template: str, **parts: Fact | Phrase | str) -> Sentence:
    """The answer to a question, from a template."""
    return Sentence(question, *phrase(template, **parts))


def text_of(fact: Fact) -> str:
    """A fact as it stands in a sentence.

    >>> text_of(Fact("mean", 1_500_000, "ns")), text_of(Fact("calls", 1200, "count"))
    ('1.50 ms', '1,200')
    """
    value = fact.value
    if value is None:
        return "unknown"
    if fact.unit == "share":
        return format_share(value)
    if fact.unit == "ns":
        return format_ns(round(value))
    if fact.unit == "bytes":
        return format_bytes(round(value))
    return f"{round(value):,}" + f" {fact.unit}" * (fact.unit != "count")


def share(name: str, value: float, place: Place | None = None) -> Fact:
    """A share of 0..1."""
    return Fact(name, float(value), "share", place)


def time(name: str, value_ns: float, place: Place | None = None) -> Fact:
    """A time in ns."""
    return Fact(name, round(value_ns), "ns", place)


def counted(count: int, noun: str, place: Place | None = None, *, nouns: str = "") -> Phrase:
    """A number of things.

    >>> counted(2, "gap").text
    '2 gaps'
    """
    fact = Fact(nouns or f"{noun}s", count, "count", place)
    return Phrase(plural(count, noun, nouns), (fact,))


def capital(text: str) -> str:
    """A text that begins a sentence.

    >>> capital("no rank")
    'No rank'
    """
    return text[:1].upper() + text[1:]
