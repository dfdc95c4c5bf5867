"""Random small traces as Extrae writes them: text, with everything the reader must bear."""

from __future__ import annotations

from dataclasses import dataclass

from hypothesis import strategies as st

APPLICATIONS = ((2, 1), (1,))  # threads of each task of each application
LOCATIONS = {(1, 1, 1): 0, (1, 1, 2): 1, (1, 2, 1): 2, (2, 1, 1): 3}
HEADER = (
    "#Paraver (01/01/2026 at 00:00):{end}_ns:1(4):2:2(2:1,1:1),1(1:1),2\n"
    "c:1:1:2:1:2\nc:2:1:1:1\nc:1:2:1:1\nc:2:2:1:1\n"
)
OTHER_CALLS = (  # type, value: Comm_rank, Barrier, Allreduce, Bcast, Wait, Test
    (50000003, 19), (50000002, 8), (50000002, 10), (50000002, 7), (50000001, 5), (50000003, 39),
)  # fmt: skip
COUNTERS = (42000000, 42000001, 42000002)
MEASURED = ((), ((77200002, 0),), ((77200002, 70),))  # waiting in polls, as our recorder tells


@dataclass
class Call:
    location: int
    kind: int
    value: int
    enter: int
    leave: int


@dataclass
class Program:
    text: str
    body: list[str]
    calls: list[list[Call]]


def _prefix(place: int) -> str:
    application, task, thread = next(k for k, v in LOCATIONS.items() if v == place)
    return f"{place + 1}:{application}:{task}:{thread}"


@st.composite
def counters(draw) -> list[tuple[int, int]]:
    chosen = draw(st.lists(st.sampled_from(COUNTERS), unique=True, max_size=3))
    return [(counter, draw(st.integers(0, 9))) for counter in chosen]


@st.composite
def one_location(draw, place: int, wanted: list[tuple[int, int]]):
    """Lay out calls in time: lines of events, and the calls themselves."""
    now = draw(st.integers(0, 3))
    lines = [(now, [(40000001, 1)])]
    made = []
    for kind, value in wanted:
        now += draw(st.integers(0, 4))
        extra = draw(st.sampled_from(["", "", "", "flush", "off", "set", "polls", "sample"]))
        if extra == "flush":
            lines += [(now, [(40000003, 1)]), (now + 2, [(40000003, 0)])]
            now += 2
        elif extra == "off":
            lines += [(now, [(40000012, 0)]), (now + 1, [(40000012, 1)])]
            now += 1
        elif extra == "sample":
            lines.append((now, draw(counters())))
        elif extra == "set":
            old = draw(counters())
            lines.append((now, [*old, (41999999, 2), (42000002, 0), (42000001, 0)]))
        entry = [(kind, value)]
        if kind == 50000002:
            entry += [(50100001, 4), (50100002, 4), (50100004, 1)]
            entry += [(50100003, 1)] if value == 7 and place == 0 else []
        if extra == "polls":
            polled = [(50000305, 50), (50000304, 3), *draw(st.sampled_from(MEASURED))]
            lines.append((now, polled)) if draw(st.booleans()) else entry.extend(polled)
        reading = draw(counters())
        callers = [(70000001, 2), (80000001, 5)] if draw(st.booleans()) else []
        cut = draw(st.integers(1, len(entry) + len(reading) + len(callers)))
        whole = [*entry, *reading, *callers]
        lines.append((now, whole[:cut]))
        if whole[cut:]:
            lines.append((now, whole[cut:]))
        enter, now = now, now + draw(st.integers(0, 5))
        lines.append((now, [(kind, 0), *draw(counters())]))
        made.append(Call(place, kind, value, enter, now))
    return [(time, pairs) for time, pairs in lines if pairs], made


@st.composite
def programs(draw) -> Program:
    """Draw a trace: calls on four locations, and messages between them."""
    wanted = {
        place: draw(st.lists(st.sampled_from(OTHER_CALLS), max_size=4))
        for place in LOCATIONS.values()
    }
    plans = []
    for _ in range(draw(st.integers(0, 4))):
        sender, receiver = (draw(st.sampled_from([0, 2])) for _ in range(2))
        how = draw(st.sampled_from(["blocking", "immediate"]))
        send = (
            (50000001, draw(st.sampled_from([1, 34]))) if how == "blocking" else (50000001, 3)
        )
        wanted[sender].append(send)
        first = len(wanted[sender]) - 1
        if draw(st.booleans()):
            wanted[receiver].append((50000001, 2))
            plans.append((sender, first, receiver, len(wanted[receiver]) - 1, None))
        else:
            wanted[receiver] += [(50000001, 4), (50000001, 6)]
            plans.append(
                (sender, first, receiver, len(wanted[receiver]) - 2, len(wanted[receiver]) - 1)
            )
    lines, calls = [], []
    for place in LOCATIONS.values():
        found, made = draw(one_location(place, wanted[place]))
        lines.append([_event(place, time, pairs) for time, pairs in found])
        calls.append(made)
    for number, plan in enumerate(plans):
        lines[plan[0]].append(_message(calls, plan, number))
    order = draw(st.permutations([k for k, part in enumerate(lines) for _ in part]))
    body, at = [], [0] * len(lines)
    for place in order:
        body.append(lines[place][at[place]])
        at[place] += 1
    end = max([call.leave for made in calls for call in made], default=0) + 10
    text = HEADER.format(end=end) + "".join(f"{line}\n" for line in body)
    return Program(text, body, calls)


def _event(place: int, time: int, pairs: list[tuple[int, int]]) -> str:
    return f"2:{_prefix(place)}:{time}:" + ":".join(f"{kind}:{value}" for kind, value in pairs)


def _message(calls: list[list[Call]], plan: tuple, number: int) -> str:
    sender, send, receiver, post, done = plan
    start, posted = calls[sender][send], calls[receiver][post]
    left = posted if done is None else calls[receiver][done]
    logical = posted.enter if done is None else posted.leave
    return (
        f"3:{_prefix(sender)}:{start.enter}:{start.leave}:"
        f"{_prefix(receiver)}:{logical}:{left.leave}:{100 + number}:{number}"
    )
