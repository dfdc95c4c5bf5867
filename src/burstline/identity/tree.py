"""The call tree of a trace: where in the program each call and each region is.

::

    program ─ main ─ solve ─┬─ MPI_Allreduce                               regions alone
                            └─ !$omp parallel @a.c:9 ─ !$omp for @a.c:10   all threads of a team
    program ─ main@a.c:41 ─ solve@a.c:7 ─ MPI_Allreduce                    stacks alone
    program ─ MPI_Allreduce                                                neither

A call hangs below the regions around it, and below the frames of its stack that are none of
them. A frame is a node for each line that it calls from; a function that is a region has the
lines of its definition. What a team does hangs below the path on which it was forked.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from burstline import _core
from burstline.columns import UNKNOWN, AnyIntegers, Columns, Integers, Mask, coded, row_of, take
from burstline.identity.call_paths import Frame
from burstline.identity.stacks import Stacks, is_outlined_name, read_stacks
from burstline.model import CALL_PATHS, OTHER_EVENT_KINDS, Trace, role_of


@dataclass(frozen=True, slots=True, eq=False)
class CallTree:
    """The call paths of a trace, each once, and which of them its calls and regions are."""

    # columns of :data:`burstline.model.CALL_PATHS`, in preorder; row 0 is the program. A frame
    # of a stack has the line that it calls from, and no last line.
    nodes: pa.Table
    call_node: npt.NDArray[np.int32]  # (calls,) the node of each call, which is its operation
    # (regions,) the node that a region's time outside of other regions and calls is of
    region_node: npt.NDArray[np.int32]
    # (regions,) whether its enter is a visit of that node. It is none where one construct has
    # several rows, as a team around `parallel`, or an outlined function in it.
    region_enters: Mask
    ambiguous: int  # calls below the program whose stacks were cut and fit several places


class _Step(NamedTuple):
    """What a node is below its parent."""

    function: str
    file: str | None = None
    begin_line: int | None = None
    end_line: int | None = None
    paradigm: str = "user"
    role: str = "function"


_ALIKE: Final = {role: role.replace("_", " ") for role in (
    "parallel", "sections", "section", "workshare", "single", "master", "critical", "atomic",
    "barrier", "implicit_barrier", "flush", "ordered", "task", "taskwait", "taskgroup",
    "taskyield", "taskloop",
)}  # fmt: skip
_CONSTRUCTS: Final = _ALIKE | {"outlined": "parallel", "team": "parallel", "loop": "for"}
"""The directives of OpenMP by the roles of their regions."""

_CUBE_ROLES: Final = {
    "outlined": "parallel",
    "team": "parallel",
    "call": "function",
    "lock": "function",
}
"""Cube's words for roles of regions where they differ in more than blanks."""

_OUTERMOST: Final = 0
_NO_NODE: Final = -1  # in place of a symbol: what is the same node as its parent


def call_tree(trace: Trace) -> CallTree:
    """The call paths of a trace, in O(rows log rows) and memory of a few columns."""
    calls, operations = _call_columns(trace)
    regions = _region_columns(trace, has_stacks=bool((calls["call_path"] >= 0).any()))
    definitions = trace.region_defs.to_pylist()
    is_used = np.zeros(trace.rows("call_paths") + 1, bool)  # the last: of those without one
    for rows in (calls, regions):
        is_used[rows["call_path"]] = True
    used = np.flatnonzero(is_used[:-1]).tolist()
    stacks, nodes, several = read_stacks(trace.call_paths, used)
    for rows in (calls, regions):
        rows["stack"] = np.array(nodes, np.int64)[rows["call_path"]]
    builder = _Builder(_program(trace), stacks, definitions, operations)
    around = _innermost_around(regions, calls)
    items = _tree_items(trace, calls, regions, around, builder.symbols)
    path, above, symbol = _core.paths_of(*items)
    node = builder.nodes(above, symbol)[path]
    region_node, call_node = node[: len(regions["parent"])], node[len(node) - len(around) :]
    table, order = builder.table((regions, region_node), (calls, call_node))
    return CallTree(
        table,
        order[call_node],
        order[region_node],
        regions["enters"],
        int((around[np.isin(calls["call_path"], [*several])] < 0).sum()) if several else 0,
    )


def rooted_tree(trace: Trace) -> CallTree:
    """The call paths of a trace below one root: the program, or the function all is below."""
    tree, (kind,) = call_tree(trace), trace.arrays("other_events", "kind")
    # Where a location says when the program began, the root has time of its own.
    tells_program = (kind == OTHER_EVENT_KINDS.index("program_begin")).any()
    return tree if tells_program else without_program(tree)


def without_program(tree: CallTree) -> CallTree:
    """The tree from the function that all else is below, if there is one; else as it is."""
    parents, roles = (tree.nodes[name].to_pylist() for name in ("parent", "paradigm"))
    is_used = (tree.call_node == 0).any() or (tree.region_node == 0).any()
    if is_used or parents.count(0) != 1 or roles[1] == "mpi":
        return tree
    nodes = tree.nodes.slice(1)
    for place, name in enumerate(("call_path", "parent")):
        shifted = pc.subtract(nodes[name], pa.scalar(1, pa.int32()))
        below = pc.if_else(pc.less(shifted, 0), pa.scalar(None, pa.int32()), shifted)
        nodes = nodes.set_column(place, name, below)
    return replace(
        tree, nodes=nodes, call_node=tree.call_node - 1, region_node=tree.region_node - 1
    )


def _program(trace: Trace) -> _Step:
    events = trace.table("other_events").select(["kind", "name"])
    begun = events.filter(pc.equal(events["kind"].cast(pa.string()), "program_begin"))
    names = set(begun["name"].drop_null().unique().to_pylist())
    names = names or {trace.metadata.get("program", "")}
    name = names.pop().rpartition("/")[2] if len(names) == 1 else ""
    return _Step(name or "program", paradigm="measurement", role="artificial")


_COLUMNS: Final = ("location", "enter_seq", "leave_seq", "call_path")


def _call_columns(trace: Trace) -> tuple[Columns, list[str]]:
    """The calls, the first row of each location among them, and the names of operations."""
    calls: Columns = dict(zip(_COLUMNS, trace.arrays("calls", *_COLUMNS), strict=True))
    codes, operations = coded(trace.table("calls")["operation"])
    return calls | {"operation": codes, "offsets": trace.offsets("calls")}, operations


def _region_columns(trace: Trace, *, has_stacks: bool) -> Columns:
    """The regions, and what each is: rows of `parent` and `team`, and masks by kind."""
    names = (*_COLUMNS, "region", "parent")
    regions: Columns = dict(zip(names, trace.arrays("regions", *names), strict=True))
    regions["offsets"] = trace.offsets("regions")
    first = regions["offsets"][regions["location"]]
    inside = (regions["parent"] >= 0) & (first + regions["parent"] < np.arange(len(first)))
    parent = regions["parent"] = np.where(inside, first + regions["parent"], UNKNOWN)
    regions["team"] = np.full(len(first), UNKNOWN)
    definitions = trace.region_defs.select(["name", "paradigm", "role"]).to_pylist()

    def are(wanted: Callable[[dict[str, Any]], bool]) -> Mask:
        chosen = np.array([wanted(each) for each in definitions], bool)
        if not chosen.any():  # what most programs are asked for in vain
            return np.zeros(len(first), bool)
        return chosen[regions["region"]]

    # Where calls have stacks, lines tell more than loops that the recorder was told of.
    untold = are(lambda each: each["paradigm"] == "user" and each["role"] == "loop")
    untold &= (regions["call_path"] < 0) & has_stacks
    # A body that reports itself as a function is the construct around it, which tells of it.
    bodies = are(lambda each: each["paradigm"] == "user" and is_outlined_name(each["name"]))
    if bodies.any():
        bodies &= parent >= 0
        untold |= bodies & (are(lambda each: each["paradigm"] == "openmp") | bodies)[parent]
    is_parallel, is_team, is_outlined = (
        are(lambda each, role=role: each["role"] == role)  # type: ignore[misc]
        for role in ("parallel", "team", "outlined")
    )
    regions |= {"parallel": is_parallel, "transparent": untold}
    if trace.rows("teams"):
        return regions | _team_constructs(trace, regions, is_team, is_outlined)
    nothing = np.zeros(len(first), bool)
    return (
        regions
        | dict.fromkeys(("body", "unforked", "construct"), nothing)
        | {"around": is_team, "enters": ~(is_team | untold)}
    )


def _team_constructs(
    trace: Trace, regions: Columns, is_team: Mask, is_outlined: Mask
) -> Columns:
    """Which regions are the constructs of teams, or tell of them, and the row of each team."""
    is_parallel, parent = regions["parallel"], regions["parent"]
    ids, fork_location, fork_seq = trace.arrays("teams", "team", "fork_location", "fork_seq")
    (team,) = trace.arrays("regions", "team")
    team = np.where(team >= 0, row_of(ids, team), UNKNOWN)
    fork_location, fork_seq = take(fork_location, team), take(fork_seq, team)
    forked_here = fork_location == regions["location"]
    # The runtime's function that forks a team may be told as in it: it is around it.
    forks_in = forked_here & (regions["enter_seq"] < fork_seq)
    team[forks_in & ~(is_parallel | is_team | is_outlined)] = UNKNOWN
    # The construct itself is told by a region around or in the team, by the function that is
    # its body, or by nothing but that a thread is in the team.
    outermost = parent < 0
    same = ~outermost & (team[parent] == team)
    forks = forked_here & (fork_seq == regions["enter_seq"])
    in_team = is_parallel & same & is_team[parent]
    around = np.zeros(len(team), bool)  # teams that are told by the region in them
    around[parent[in_team]] = True
    body = is_outlined & (outermost | (same & (is_parallel | is_team | is_outlined)[parent]))
    construct = (is_parallel & (outermost | forks | in_team)) | body | (is_team & ~around)
    construct &= team >= 0
    is_around = is_team & (around | (team < 0))
    unforked = is_parallel & ~construct  # of a source that enters it before the fork
    inner = construct & ~outermost & ((same & construct[parent]) | unforked[parent])
    return {
        "team": team,
        "body": body,
        "unforked": unforked,
        "construct": construct,
        "around": is_around,
        "enters": ~(is_around | regions["transparent"] | inner),
    }


def _innermost_around(rows: Columns, moments: Columns) -> Integers:
    """The innermost of some rows around each `enter_seq` on its location, -1 without one."""
    columns = (rows["offsets"], rows["enter_seq"], rows["leave_seq"], rows["parent"])
    return _core.innermost(columns, moments["location"], moments["enter_seq"])


def _tree_items(
    trace: Trace, calls: Columns, regions: Columns, around: Integers, symbol_of: _Symbols
) -> tuple[Integers, Integers]:
    """The region, team or call above each, in this order, -1 for none, and its symbol."""
    fork_location, fork_seq = trace.arrays("teams", "fork_location", "fork_seq")
    fork_around = _innermost_around(regions, {"location": fork_location, "enter_seq": fork_seq})
    above, team, construct = regions["parent"], regions["team"], regions["construct"]
    first_team, first_call = len(above), len(above) + len(fork_around)
    parent = above.copy()
    if len(fork_around):
        # teams that are told by regions in them are where they were forked
        forked = regions["around"] & (team >= 0)
        parent[forked] = fork_around[team[forked]]
        in_team = (construct | ((above < 0) & (team >= 0))) & ~regions["around"]
        parent[in_team] = first_team + team[in_team]
    call = _innermost_around(calls | {"parent": np.zeros(0, np.int64)}, regions)
    rows = np.flatnonzero((call >= 0) & ~construct & ~regions["around"])
    call = call[rows]
    entered = take(regions["enter_seq"], above[rows])
    is_inner = entered < calls["enter_seq"][call]
    parent[rows[is_inner]] = first_call + call[is_inner]
    symbol = symbol_of(regions["region"], regions["stack"])
    symbol[construct | regions["around"] | regions["transparent"]] = _NO_NODE
    region, stack = np.full((2, len(fork_around)), UNKNOWN, np.int64)
    for which in (construct, construct & regions["parallel"], regions["body"] & construct):
        chosen = np.flatnonzero(which)[::-1]  # the first one stays
        region[team[chosen]] = chosen
    chosen = np.flatnonzero(construct & (regions["stack"] >= 0))[::-1]
    stack[team[chosen]] = regions["stack"][chosen]
    teams = symbol_of(take(regions["region"], region, symbol_of.parallel), stack)
    teams[take(regions["unforked"], fork_around, missing=False)] = _NO_NODE
    of_calls = symbol_of(symbol_of.first_operation + calls["operation"], calls["stack"])
    return (
        np.concatenate([parent, fork_around, around]),
        np.concatenate([symbol, teams, of_calls]),
    )


class _Symbols:
    """What a node is below another, as numbers: a definition or an operation, and a stack."""

    def __init__(self, definitions: int, operations: int) -> None:
        self.parallel = definitions  # behind the definitions: a construct nobody tells of
        self.first_operation = definitions + 1
        self._kinds = self.first_operation + operations

    def __call__(self, kind: Integers, stack: Integers) -> Integers:
        return (stack + 1) * self._kinds + kind

    def parts(self, symbol: int) -> tuple[int, int]:
        """The kind and the stack of a symbol."""
        stack, kind = divmod(symbol, self._kinds)
        return kind, stack - 1


class _Builder:
    """The nodes of a tree, as it grows: parents have smaller numbers."""

    def __init__(
        self,
        program: _Step,
        stacks: Stacks,
        definitions: list[dict[str, Any]],
        operations: list[str],
    ) -> None:
        parallel = {"name": "parallel", "paradigm": "openmp", "role": "parallel"}
        self._definitions = [*definitions, dict.fromkeys(_PLACE) | parallel]
        self._constructs = {
            each["name"] for each in definitions if each["paradigm"] == "openmp"
        }
        self._operations, self._stacks = operations, stacks
        self.symbols = _Symbols(len(definitions), len(operations))
        self._steps, self._parents = [program], [UNKNOWN]
        self._numbers: dict[tuple[int, _Step], int] = {}
        self._nodes_of_stacks: dict[int, int] = {}

    def nodes(self, above: AnyIntegers, symbol: Integers) -> npt.NDArray[np.int32]:
        """The nodes of paths, from the path above each and its last symbol; first the root."""
        nodes = [_OUTERMOST]
        for parent, last in zip(above[1:].tolist(), symbol[1:].tolist(), strict=True):
            nodes.append(self._node(nodes[parent], *self.symbols.parts(last)))
        return np.array(nodes, np.int32)

    def _node(self, parent: int, kind: int, stack: int) -> int:
        if kind >= self.symbols.first_operation:
            name = self._operations[kind - self.symbols.first_operation]
            return self._child(self._frames(parent, stack, name), _operation_step(name))
        definition = self._definitions[kind]
        frame = self._stacks.frames[stack] if stack >= 0 else None
        below = self._frames(parent, stack, definition["name"])
        return self._child(below, _region_step(definition, frame, self._steps[below]))

    def _child(self, parent: int, step: _Step) -> int:
        number = self._numbers.setdefault((parent, step), len(self._steps))
        if number == len(self._steps):
            self._steps.append(step)
            self._parents.append(parent)
        return number

    def _frames(self, node: int, stack: int, name: str) -> int:
        """The node of those frames of a stack that are between a node and `name`, a region."""
        # Stacks of a source may hold its regions: the innermost is the region itself, and
        # constructs are told by the regions around it.
        frames, parents = self._stacks.frames, self._stacks.parents
        if stack >= 0 and frames[stack].function == name:
            stack = parents[stack]
        while stack >= 0 and self._is_construct(frames[stack]):
            stack = parents[stack]
        if stack < 0 or frames[stack].function == self._steps[node].function:
            return node
        if node == _OUTERMOST:
            return self._whole(stack)
        chain = [
            each for each in self._stacks.chain(stack) if not self._is_construct(frames[each])
        ]
        outer: list[_Step] = []
        above = node
        while above > _OUTERMOST and self._steps[above].role != "parallel":
            outer.append(self._steps[above])
            above = self._parents[above]
        begin = 0
        if above > _OUTERMOST:  # in a team: what is below the fork
            bodies = [place for place, each in enumerate(chain) if self._stacks.outlined[each]]
            begin = bodies[-1] + 1 if bodies else 0
            while not bodies and above > _OUTERMOST:
                outer.append(self._steps[above])
                above = self._parents[above]
        last = {frames[each].function: place for place, each in enumerate(chain)}
        inner = [last[step.function] for step in outer if last.get(step.function, -1) >= begin]
        begin = inner[0] + 1 if inner else begin
        for each in chain[begin:]:
            node = self._child(node, self._frame(each))
        return node

    def _whole(self, stack: int) -> int:
        """The node of all frames of a stack, below the program; each is looked up once."""
        inner = []
        while stack >= 0 and stack not in self._nodes_of_stacks:
            inner.append(stack)
            stack = self._stacks.parents[stack]
        node = self._nodes_of_stacks.get(stack, _OUTERMOST)
        for each in reversed(inner):
            if not self._is_construct(self._stacks.frames[each]):
                node = self._child(node, self._frame(each))
            self._nodes_of_stacks[each] = node
        return node

    def _frame(self, stack: int) -> _Step:
        """What the innermost frame of a stack is as a node."""
        frame, above = self._stacks.frames[stack], self._stacks.parents[stack]
        if self._stacks.outlined[stack]:
            return _body_step(frame, self._stacks.frames[above] if above >= 0 else None)
        return _Step(frame.function, frame.file, frame.line)

    def _is_construct(self, frame: Frame) -> bool:
        return frame.line is None and frame.function in self._constructs

    def table(
        self, *occurrences: tuple[Columns, AnyIntegers]
    ) -> tuple[pa.Table, npt.NDArray[np.int32]]:
        """The nodes that occur, or hold some, in preorder as they are met; the row of each."""
        never = (np.iinfo(np.int64).max, 0)
        met = [never] * len(self._steps)
        for rows, nodes in occurrences:
            first = np.full(len(met), UNKNOWN, np.int64)
            first[nodes[::-1]] = np.arange(len(nodes))[::-1]
            for node in np.flatnonzero(first >= 0).tolist():
                row = int(first[node])
                when = int(rows["location"][row]), int(rows["enter_seq"][row])
                met[node] = min(met[node], when)
        for node in range(len(met) - 1, _OUTERMOST, -1):
            met[self._parents[node]] = min(met[self._parents[node]], met[node])
        below: dict[int, list[int]] = {}
        for node in sorted(range(1, len(met)), key=met.__getitem__, reverse=True):
            if met[node] < never:
                below.setdefault(self._parents[node], []).append(node)
        order = np.full(len(met), UNKNOWN, np.int32)
        table: list[tuple[object, ...]] = []
        waiting = [_OUTERMOST]
        while waiting:
            node = waiting.pop()
            order[node] = len(table)
            parent = None if node == _OUTERMOST else int(order[self._parents[node]])
            table.append((len(table), parent, *self._steps[node]))
            waiting += below.get(node, ())
        columns = zip(*table, strict=True)
        return pa.table([list(column) for column in columns], CALL_PATHS), order


_PLACE: Final = ("file", "begin_line", "end_line")


def _operation_step(name: str) -> _Step:
    return _Step(name, "MPI", paradigm="mpi", role=role_of(name))


def _region_step(definition: dict[str, Any], frame: Frame | None, parent: _Step) -> _Step:
    """What a region is as a node: by its definition, the frame that enters it, and where."""
    name, paradigm, role = (definition[key] for key in ("name", "paradigm", "role"))
    file, begin_line, end_line = (definition[key] for key in _PLACE)
    if paradigm == "mpi":
        return _operation_step(name)
    if paradigm == "openmp" and not name.startswith("!$omp") and role in _CONSTRUCTS:
        if file is None and frame is not None:
            file, begin_line, end_line = frame.file, frame.line, frame.line
        elif file is None and role == "implicit_barrier":  # of a thread that left the body
            file, begin_line, end_line = parent.file, parent.begin_line, parent.end_line
        name = _construct_name(_CONSTRUCTS[role], file, begin_line)
    elif paradigm == "openmp" and role == "lock":
        name = "omp_set_lock"
    word = _CUBE_ROLES.get(role, role.replace("_", " "))
    return _Step(name, file, begin_line, end_line, paradigm, word)


def _body_step(frame: Frame, caller: Frame | None) -> _Step:
    """The construct whose body is a function of the compiler, by its frame and its caller's."""
    word = "task" if "task" in frame.function else "parallel"
    file, line = (frame.file, None) if caller is None else (caller.file, caller.line)
    return _Step(_construct_name(word, file, line), file, line, line, "openmp", word)


def _construct_name(word: str, file: str | None, line: int | None) -> str:
    where = (file or "").rpartition("/")[2]
    return f"!$omp {word}" + (f" @{where}" + f":{line}" * (line is not None)) * bool(where)
