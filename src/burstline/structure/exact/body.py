"""The bodies of loops that a program is read in, and what they cost to write down."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import NamedTuple

from burstline import _core
from burstline.columns import Integers, Mask


class Cost(NamedTuple):
    """What a reading costs; the least is chosen."""

    unexplained: int = 0  # conditions, and trip counts, that follow no rule
    length: int = 0  # as descriptions have it
    # conditions, twice with words that name no end of the loop; fewer are better of two as long
    conditions: int = 0
    disorder: int = 0  # neighbours against the order of their lines, that are in the length
    letters: int = 0  # of the words for conditions that name no end of the loop
    lists: int = 0  # what rules that are long lists would cost as trip counts

    @property
    def rank(self) -> tuple[int, int, int, int, int]:
        """What is less for the better reading."""
        told = self.length + self.lists
        left_open = told + 2 * self.unexplained
        return left_open, told, self.disorder, self.conditions, self.letters

    @property
    def words(self) -> tuple[int, int, int, int]:
        """What is less for the better way to write a body."""
        left_open = self.length + 2 * self.unexplained
        return left_open, self.length, self.conditions, self.letters

    def plus(self, other: Cost) -> Cost:
        """The cost of both."""
        a, b, c, d, e, f = self
        u, v, w, x, y, z = other
        # a loop takes three times as long
        return Cost(a + u, b + v, c + w, d + x, e + y, f + z)


def loop_cost(executed: Mask, begins: Mask, lane: Integers) -> Cost:
    """What a loop, and the conditions in it, cost, by what its iterations execute."""
    return _cost_told(_core.loop_cost(executed, begins, lane))


def trips_cost(trips: Integers, lane: Integers, place: Integers | None = None) -> Cost:
    """What trip counts cost, by the iteration around each, or as if each of these had one."""
    return _cost_told(_core.trips_cost(trips, lane, trips[:0] if place is None else place))


def _cost_told(told: tuple[int, int, int, int, int]) -> Cost:
    unexplained, length, conditions, letters, lists = told
    return Cost(unexplained, length, conditions, letters=letters, lists=lists)


@dataclass(frozen=True)
class Body:
    """The body of a loop, or of the program; equal to one that is read alike."""

    # calls, by their site, and the bodies of loops, in the order of the program
    elements: tuple[int | Body, ...]
    # the loops, conditions and lines in disorder that describe it, over all kinds of lanes
    cost: int = field(default=0, compare=False)
    # what the loop costs, with those in it, and those in it alone; None if nobody knows
    whole: Cost | None = field(default=None, compare=False)
    inner: Cost | None = field(default=None, compare=False)
    # (lanes,) iterations after which it is entered anew; empty if calls tell when
    most: tuple[int, ...] = ()
    rise: int = 0  # by how many these are more in each iteration of the loop around
    # elements, by the calls they begin with, the second of which is never in the iteration that
    # came to the first: it begins the next one
    apart: frozenset[tuple[int, int]] = frozenset()
    cuts: tuple[int, ...] = ()  # places where else an iteration begins, told by the judge
    anew: tuple[int, ...] = ()  # places where an entry begins that no other call tells

    @cached_property
    def key(self) -> int:
        """The hash of all that tells it from others."""
        return hash((self.elements, self.most, self.rise, self.apart, self.cuts, self.anew))

    def __hash__(self) -> int:
        """The hash, which takes long for loops in loops."""
        return self.key

    @cached_property
    def made(self) -> frozenset[int]:
        """The calls in it, in no order."""
        return frozenset(self.calls)

    @cached_property
    def calls(self) -> tuple[int, ...]:
        """The calls in it, those of its loops too."""
        return tuple(call for element in self.elements for call in calls_in(element))

    @cached_property
    def loops(self) -> list[tuple[int, Body]]:
        """The loops that are elements of it, each with its place."""
        return [(at, each) for at, each in enumerate(self.elements) if isinstance(each, Body)]

    def of(self, elements: Iterable[int | Body]) -> Body:
        """The body of other elements."""
        return self._made(tuple(elements), None, None)

    def put(self, begin: int, end: int, *elements: int | Body) -> Body:
        """The body with some elements in place of those from one place up to another."""
        return self.of((*self.elements[:begin], *elements, *self.elements[end:]))

    def with_loops(self, changed: Callable[[Body], Body]) -> Body:
        """The body with each of its loops changed."""
        return self.of(changed(e) if isinstance(e, Body) else e for e in self.elements)

    def told(self, whole: Cost | None, inner: Cost | None) -> Body:
        """The body, with what it costs."""
        return self._made(self.elements, whole, inner)

    def _made(
        self, elements: tuple[int | Body, ...], whole: Cost | None, inner: Cost | None
    ) -> Body:
        # written out: thousands are made, and `replace` takes three times as long
        apart, cuts, anew = self.apart, self.cuts, self.anew
        return Body(elements, self.cost, whole, inner, self.most, self.rise, apart, cuts, anew)

    def parted(self, apart: frozenset[tuple[int, int]], cuts: tuple[int, ...]) -> Body:
        """The body, with its iterations parted in another way."""
        elements, most, rise = self.elements, self.most, self.rise
        return Body(elements, self.cost, None, self.inner, most, rise, apart, cuts, self.anew)

    def entered_by_count(self, most: tuple[int, ...], rise: int = 0) -> Body:
        """The body, entered anew after some iterations on each lane, and more each time."""
        return replace(self, most=most, rise=rise, whole=None, inner=None)

    def cut(self, places: Iterable[int]) -> Body:
        """The body, with iterations that begin at some more places."""
        return self.parted(self.apart, tuple(sorted({*self.cuts, *places})))

    @property
    def hides_entries(self) -> bool:
        """Whether calls do not tell all of its entries."""
        return bool(self.most or self.anew)

    @property
    def leaves_open(self) -> bool:
        """Whether its own conditions, or trip counts, follow no rule, or a long list."""
        if self.whole is None or self.inner is None:
            return True
        own = self.whole.unexplained + self.whole.lists
        return own > self.inner.unexplained + self.inner.lists

    @property
    def is_plain(self) -> bool:
        """Whether it has no conditions, and loops of constant trip counts only."""
        return self.whole is not None and self.whole == Cost(0, self.plain_length)

    @property
    def plain_length(self) -> int:
        """The length of a loop of so many elements, if nothing in it depends on anything."""
        return 2 + sum(e.plain_length if isinstance(e, Body) else 1 for e in self.elements)


def renamed(body: Body, names: Mapping[int, int]) -> Body:
    """A body of the same calls by other names."""
    return replace(
        body,
        elements=tuple(
            names[each] if isinstance(each, int) else renamed(each, names)
            for each in body.elements
        ),
        # some are left of readings that had more calls
        apart=frozenset((names[a], names[b]) for a, b in body.apart if {a, b} <= names.keys()),
    )


def calls_in(element: int | Body) -> tuple[int, ...]:
    """The calls of an element."""
    return (element,) if isinstance(element, int) else element.calls


def first_and_last_call(element: int | Body) -> tuple[int, int]:
    """The first and the last call of an element."""
    if isinstance(element, int):
        return element, element
    first, last = element.elements[0], element.elements[-1]
    return first_and_last_call(first)[0], first_and_last_call(last)[1]


def first_call(element: int | Body) -> int:
    """The call that an element begins with."""
    return first_and_last_call(element)[0]
