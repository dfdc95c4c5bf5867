"""
Compiled kernels over columns of integers; see the Python modules for meaning.

An array is contiguous, on one dimension (`executed` on two), of exactly the type of numbers that
stands here; one that a kernel takes may be read-only.
"""

from collections.abc import Sequence
from enum import IntEnum
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

class EventClass(IntEnum):
    """What a reader does with an event of a type."""

    OTHER = 0
    MPI_CALL = 1
    COLLECTIVE_SENT = 2
    COLLECTIVE_RECEIVED = 3
    COLLECTIVE_ROOT = 4
    COLLECTIVE_COMMUNICATOR = 5
    COUNTER = 6
    COUNTER_SET = 7
    CALLER_FUNCTION = 8
    CALLER_LINE = 9
    POLL_COUNT = 10
    POLL_TIME = 11
    APPLICATION = 12
    FLUSH = 13
    TRACING = 14
    RMA_SIZE = 15
    RMA_TARGET = 16
    IO_SIZE = 17
    REGION = 18
    LOCK = 19
    REGION_LINE = 20
    LOCK_ADDRESS = 21
    POLL_WAITING = 22
    SAMPLE_FUNCTION = 23
    SAMPLE_LINE = 24
    SAMPLE_PERIODS = 25

class CallKind(IntEnum):
    """What kind of call an operation is: bits."""

    BLOCKING_SEND = 1
    IMMEDIATE_SEND = 2
    START = 4
    BLOCKING_RECEIVE = 8
    IMMEDIATE_RECEIVE = 16
    COMPLETION = 32
    COLLECTIVE = 64
    READS_FILE = 128
    WRITES_FILE = 256
    GETS_MEMORY = 512
    PUTS_MEMORY = 1024

class LockStep(IntEnum):
    """What a thread does with a lock."""

    RELEASED = 0
    REQUESTED = 1
    ACQUIRED = 2
    RELEASING = 3

class GapKind(IntEnum):
    """Why nobody watched; places in the schema's kinds of gaps."""

    FLUSH = 0
    TRACING_OFF = 1
    NOT_CREATED = 2
    CUT = 3
    DROPPED = 4

class Layout:
    """Declared objects of a trace and the bucket of each."""

    def __init__(
        self,
        tasks_per_application: Sequence[int],
        threads_per_task: Sequence[int],
        bucket_of_task: Sequence[int],
    ) -> None: ...
    @property
    def locations(self) -> int: ...
    @property
    def buckets(self) -> int: ...

class TypeTable:
    """Event types met so far, with their class."""

    def __init__(
        self,
        types: NDArray[np.int64],
        kinds: NDArray[np.uint8],
        ranges: Sequence[tuple[int, int, int]],
    ) -> None: ...
    def types(self) -> NDArray[np.int64]: ...
    def meet(self, types: NDArray[np.int64]) -> None:
        """Number types as if they were met in this order."""

class Block:
    """A stretch of lines: scanned, then packed per location."""

    def __init__(self, layout: Layout, types: TypeTable, unit_ns: int) -> None: ...
    def scan(self, text: NDArray[np.uint8]) -> None: ...
    def encode(self) -> None: ...
    def counts(self) -> tuple[int, int, int, int, int, int]:
        """(lines, states, event lines, pairs, communications, sum of values)"""

    def flaws(self) -> list[tuple[str, int, int, bytes]]:
        """[(kind, count, first line in the block, excerpt)]"""

    def texts(self) -> list[tuple[int, bytes]]: ...

class Journal:
    """What a file says about each location, packed."""

    def __init__(self, layout: Layout) -> None: ...
    def append(self, block: Block) -> None: ...
    @property
    def resident(self) -> int: ...
    @property
    def communications(self) -> int: ...
    def counts(self, layout: Layout) -> dict[str, NDArray[np.int64]]: ...
    def parts(self, bucket: int) -> list[NDArray[np.uint8]]:
        """Views of the packed parts; invalid once the bucket is released."""

    def release(self, bucket: int) -> None: ...
    def restore(
        self, bucket: int, written: NDArray[np.uint8], sent_before: NDArray[np.int64]
    ) -> None:
        """
        Take back parts, whose ordinals begin after what each location had sent before; if they do already, `sent_before` is empty.
        """

    def counted(self) -> NDArray[np.uint8]:
        """The counts of all locations, as `count` takes them."""

    def count(self, counted: NDArray[np.uint8]) -> None:
        """Count what a journal of the text that comes next has."""

class Vocabulary:
    """What codes, operations and communicators mean."""

    def __init__(
        self,
        types: TypeTable,
        counter: NDArray[np.int32],
        counters: int,
        operation: NDArray[np.int16],
        call_kind: NDArray[np.uint16],
        communicators: Sequence[tuple[int, int, int]],
        application: NDArray[np.int32],
        lock_steps: Sequence[tuple[int, int]],
        callers: tuple[int, int],
        sampled: tuple[int, int],
        end_of_time: int,
    ) -> None: ...

class PathTable:
    """Distinct call paths."""

    def __init__(self) -> None: ...
    def __len__(self) -> int: ...
    def path(self, number: int) -> tuple[int, list[int]]:
        """
        (location << 32 | call) where it occurs first, and its (level, function, line) ids.
        """

class Builder:
    """Builds the tables of some buckets."""

    def __init__(
        self,
        journal: Journal,
        layout: Layout,
        vocabulary: Vocabulary,
        paths: PathTable,
        first_bucket: int,
        last_bucket: int,
        raw: bool,
        states: bool,
    ) -> None: ...
    def build(self, bucket: int) -> None: ...
    def finish(self) -> None: ...
    def tables(self) -> dict[str, dict[str, NDArray[Any]]]:
        """The tables' columns; the builder gives them up."""

    def extras(self) -> dict[str, Any]: ...

def burst_columns(
    locations: NDArray[np.int32],
    calls: Sequence[NDArray[np.int64]],
    call_offsets: NDArray[np.int64],
    readings: Sequence[NDArray[np.int64]],
    reading_offsets: NDArray[np.int64],
    gaps: Sequence[NDArray[np.int64]],
    gap_offsets: NDArray[np.int64],
) -> dict[str, NDArray[Any]]:
    """Columns of the bursts between consecutive calls of each location."""

class PrvBody:
    """Prints the records of all locations in order of time."""

    def __init__(
        self,
        cpu: NDArray[np.int64],
        application: NDArray[np.int64],
        task: NDArray[np.int64],
        thread: NDArray[np.int64],
    ) -> None:
        """The four ids of each location, as printed."""

    def load(
        self,
        events: Sequence[NDArray[np.int64]],
        states: Sequence[NDArray[np.int64]],
        links: Sequence[NDArray[np.int64]],
    ) -> None:
        """
        Start on records: (offsets, time, type, value), (offsets, begin, end, state) and (offsets, send, leave, receiver, post, receive, size, tag), by time within a location; communications by their sender's leave.
        """

    def fill(self, out: NDArray[np.uint8]) -> int:
        """
        Print whole lines into a buffer of at least 64 KiB; give the number of characters, 0 at the end.
        """

    @property
    def dropped(self) -> int:
        """Records left out: states that end before they begin, impossible types."""

    @property
    def disordered(self) -> int:
        """First location whose records run backwards in time, or -1."""

def connected_within(
    coordinates: NDArray[np.float64], dimensions: int, reach: float
) -> NDArray[np.int64]:
    """For every point, its component among those joined by steps of at most `reach`."""

def common_in_order(a: NDArray[np.int32], b: NDArray[np.int32], window: int) -> int:
    """
    How many symbols two sequences have in common, in order; a lower bound when what differs is longer than `window`.
    """

def count_follows(
    sequence: NDArray[np.int32], lane_begin: NDArray[np.int64], symbols: int
) -> tuple[
    NDArray[np.int64],
    NDArray[np.int64],
    NDArray[np.int64],
    NDArray[np.int64],
    NDArray[np.int64],
]:
    """Pairs of neighbours within lanes (from, to, how often), and which each lane has."""

def read_nest(
    nest: tuple[NDArray[Any], ...],
    sequence: NDArray[np.int32],
    lane_begin: NDArray[np.int64],
    enter_ns: NDArray[np.int64],
    leave_ns: NDArray[np.int64],
) -> tuple[
    tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]],
    tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]],
    NDArray[np.int64],
    NDArray[np.int64],
]:
    """
    What each loop of a nest did in a sequence: when, trips, iterations, time inside.
    """

def nest_spans(
    nest: tuple[NDArray[Any], ...],
    sequence: NDArray[np.int32],
    lane_begin: NDArray[np.int64],
    loop: int,
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """The iterations of one loop of a nest: lane, entry, first and last call."""

def fold_sites(
    sequence: NDArray[np.int32],
    lane_begin: NDArray[np.int64],
    kinds: NDArray[np.int32],
    first_times: int,
    work: int,
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """
    Where each symbol stands in its lane with repeats folded, and the symbol of each site.
    """

def unite_sites(
    sequence: NDArray[np.int32],
    lane_begin: NDArray[np.int64],
    sites: NDArray[np.int32],
    work: int,
) -> tuple[NDArray[np.int64], int]:
    """The sites of symbols, united as long as the program gets shorter; its length."""

def expand(
    symbol: NDArray[np.int32],
    end: NDArray[np.int32],
    executions: NDArray[np.int64],
    knows_when: NDArray[np.uint8],
    knows_trips: NDArray[np.uint8],
    when: tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]],
    trips: tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]],
    lanes: int,
    lane: int,
) -> NDArray[np.int32]:
    """The calls that a program makes on one lane, in order."""

def loop_cost(
    executed: NDArray[np.bool_], begins: NDArray[np.bool_], lane: NDArray[np.int64]
) -> tuple[int, int, int, int, int]:
    """What a loop costs: unexplained, length, conditions, letters, lists."""

def conditional_body(
    executed: NDArray[np.bool_], begins: NDArray[np.bool_], lane: NDArray[np.int64]
) -> NDArray[np.int32]:
    """The elements of a loop in order, those on one condition between -1 and -2."""

def trips_cost(
    trips: NDArray[np.int64], lane: NDArray[np.int64], place: NDArray[np.int64]
) -> tuple[int, int, int, int, int]:
    """What trip counts cost, by the iteration around each; none stands for one each."""

def loop_run(
    calls: tuple[NDArray[np.int32], NDArray[np.int64], NDArray[np.bool_], NDArray[np.int64]],
    elements: tuple[NDArray[np.int32], NDArray[np.bool_], NDArray[np.int64]],
) -> tuple[NDArray[np.int32], NDArray[np.uint8], NDArray[np.int64], NDArray[np.int64]]:
    """The elements that a loop executes, where entries begin, lanes, and places."""

def iteration_begins(
    element: NDArray[np.int32],
    begins: NDArray[np.bool_],
    place: NDArray[np.int64],
    elements: int,
    apart: NDArray[np.int64],
    cuts: NDArray[np.int64],
) -> NDArray[np.uint8]:
    """Whether an iteration of a loop begins with each element that it executes."""

def loop_iterations(
    calls: tuple[NDArray[np.int32], NDArray[np.int64], NDArray[np.bool_], NDArray[np.int64]],
    elements: tuple[NDArray[np.int32], NDArray[np.bool_], NDArray[np.int64]],
    apart: NDArray[np.int64],
    cuts: NDArray[np.int64],
    sparsest: int,
) -> tuple[NDArray[np.uint8], NDArray[np.uint8], NDArray[np.int64], NDArray[np.int64]] | None:
    """What each iteration executes, which begin entries, lanes, and first calls."""

def irregular_elements(
    element: NDArray[np.int32],
    begins: NDArray[np.bool_],
    is_new: NDArray[np.bool_],
    elements: int,
) -> int:
    """How many elements are executed in some of the iterations of one place."""

def reduce_calls(
    lane_begin: NDArray[np.int64],
    rank: NDArray[np.int64],
    ranks: int,
    signature: NDArray[np.int32],
    signatures: int,
    quantities: Sequence[NDArray[np.int64]],
    ids: Sequence[NDArray[np.int32]],
    burst_ranges: Sequence[NDArray[np.int64]],
    call_after: NDArray[np.int32],
    burst_columns: Sequence[NDArray[np.int64]],
) -> dict[str, NDArray[Any]]:
    """
    Columns of the unique calls, one per lane and signature; pairs and counters row after row.
    """

def count_runs(of: NDArray[np.int64], other: NDArray[np.int64]) -> int:
    """Stretches of one sorted series of moments that no moment of another interrupts."""

def steps_within(begins: NDArray[np.int64], around: NDArray[np.int64]) -> tuple[int, int, int]:
    """
    Iterations around that have any, pairs of neighbours within one, and the sum of the time between these.
    """

class Holds(IntEnum):
    """What an event record holds: bits."""

    ENTERS_CALL = 1
    LEAVES_CALL = 2
    HAS_COUNTER = 4

def align(
    a: tuple[NDArray[Any], ...],
    b: tuple[NDArray[Any], ...],
    place: float,
    size: float,
    most: float,
    limit: float,
    turn: float,
    window: int,
) -> NDArray[np.int64]:
    """For each token of a sequence the one of another that it is, in order, or -1."""

def pair_near(
    a: tuple[NDArray[Any], ...], b: tuple[NDArray[Any], ...], tolerance: float
) -> NDArray[np.int64]:
    """For each thing left over the one of the other side with its key near it, or -1."""

def pair_alike(
    a: tuple[NDArray[Any], ...],
    b: tuple[NDArray[Any], ...],
    place: float,
    size: float,
    partner: float,
    limit: float,
    both_sizes: bool,
    block: int,
) -> NDArray[np.int64]:
    """For each burst the most similar one in the same group of the other side, or -1."""

def find_records(
    text: NDArray[np.uint8],
    layout: Layout,
    begin: NDArray[np.int64],
    times: NDArray[np.int64],
    calls: NDArray[np.int64],
    counters: NDArray[np.int64],
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.uint8]]:
    """
    The event records at moments of locations: which moment, where they end, what they hold.
    """

def with_pairs(
    text: NDArray[np.uint8],
    places: NDArray[np.int64],
    types: NDArray[np.int64],
    values: NDArray[np.int64],
) -> NDArray[np.uint8]:
    """Text with pairs put in at some places."""

class RecordKind(IntEnum):
    """What a record of an event says."""

    SEND = 0
    SEND_DONE = 1
    POST = 2
    RECEIVE = 3
    CANCELLED = 4
    PROBE = 5
    MATCHED_RECEIVE = 6
    MATCHED_POST = 7
    MATCHED_COMPLETE = 8
    COLLECTIVE = 9
    COLLECTIVE_START = 10
    COLLECTIVE_DONE = 11
    RMA = 12
    IO = 13
    LOCK_ACQUIRED = 14
    LOCK_RELEASED = 15
    FLUSH = 16
    MEASUREMENT = 17
    PROGRAM_BEGIN = 18
    PROGRAM_ARGUMENT = 19
    PROGRAM_END = 20
    COMMUNICATOR_CREATED = 21
    COMMUNICATOR_DESTROYED = 22
    THREAD_CREATED = 23
    THREAD_BEGUN = 24
    THREAD_AWAITED = 25
    THREAD_ENDED = 26
    TASK_CREATED = 27
    TASK_SWITCHED = 28
    TASK_COMPLETED = 29
    PARAMETER = 30
    SAMPLE = 31
    ATTRIBUTE = 32

class Way(IntEnum):
    """How a transfer moves data: to its partner, or from it."""

    PUT = 1
    GET = 2

class TransferEvent(IntEnum):
    """What tells of a transfer; a second record of one event says AGAIN."""

    AGAIN = 0
    PUT = 1
    GET = 2
    ATOMIC = 3

def otf2_record_fields() -> dict[str, str]:
    """The column of records that each of their values stands in, by its name."""

class Defined(IntEnum):
    """What a row of definitions defines."""

    ARCHIVE = 1
    CLOCK = 2
    TEXT = 3
    NODE = 4
    LOCATION_GROUP = 5
    LOCATION = 6
    REGION = 7
    GROUP = 8
    METRIC_MEMBER = 9
    METRIC_CLASS = 10
    METRIC_INSTANCE = 11
    COMMUNICATOR = 12
    INTER_COMMUNICATOR = 13
    PARAMETER = 14
    WINDOW = 15
    ATTRIBUTE = 16
    CALLING_CONTEXT = 17
    SOURCE_CODE_LOCATION = 18
    NODE_DOMAIN = 19
    IO_HANDLE = 20
    PARADIGM = 21

def otf2_definitions(
    library: str, anchor: str, integers: int, characters: int, seconds: int, bytes: int
) -> tuple[NDArray[np.int64], NDArray[np.int8], tuple[int, int, str, bytes]]:
    """Rows of definitions, their text, and (signal, status, its name, complaint)."""

def otf2_stop(stopped: bool) -> None:
    """End all children that read, and begin none until this is called with False."""

def otf2_events(
    library: str,
    anchor: str,
    locations: tuple[NDArray[Any], ...],
    regions: tuple[NDArray[Any], ...],
    contexts: tuple[NDArray[Any], ...],
    metrics: tuple[NDArray[Any], ...],
    clock: tuple[int, int],
    events: int,
    values: int,
    seconds: int,
    bytes: int,
) -> tuple[
    dict[str, dict[str, NDArray[Any]]], dict[str, int], int, tuple[int, int, str, bytes]
]:
    """
    Tables of the events of some locations, events of each kind, rows that did not fit, and (signal, status, its name, complaint).
    """

class Written(IntEnum):
    """Kinds of events that an archive is written of."""

    ENTER = 1
    LEAVE = 2
    SEND = 3
    ISEND = 4
    SEND_DONE = 5
    POST = 6
    RECEIVE = 7
    IRECEIVE = 8
    COLLECTIVE_BEGIN = 9
    COLLECTIVE_END = 10
    COLLECTIVE_START = 11
    COLLECTIVE_COMPLETE = 12
    FORK = 13
    JOIN = 14
    TEAM_BEGIN = 15
    TEAM_END = 16
    ACQUIRE = 17
    RELEASE = 18
    METRIC = 19
    MEASUREMENT = 20
    FLUSH = 21
    PARAMETER = 22
    UNSIGNED_PARAMETER = 23
    TEXT_PARAMETER = 24
    PROGRAM_BEGIN = 25
    PROGRAM_END = 26
    COMMUNICATOR_CREATED = 27
    COMMUNICATOR_DESTROYED = 28
    THREAD_CREATED = 29
    THREAD_BEGUN = 30
    THREAD_AWAITED = 31
    THREAD_ENDED = 32
    TASK_CREATED = 33
    TASK_SWITCHED = 34
    TASK_COMPLETED = 35
    SAMPLE = 36
    ATTRIBUTE = 37

class Otf2Writer:
    def __init__(self, library: str, folder: str, name: str, chunk: int) -> None: ...

    width: Final[int] = ...
    """Arguments of each event."""

    def write(
        self,
        location: int,
        kind: NDArray[np.int64],
        time: NDArray[np.int64],
        arguments: NDArray[np.int64],
        values: NDArray[np.int64],
    ) -> None:
        """Writes all events of a location: six arguments each."""

    def finish(
        self, rows: NDArray[np.int64], text: bytes, locations: NDArray[np.uint64]
    ) -> None:
        """
        Writes the definitions, rows as `otf2_definitions` gives them, and closes.
        """

class Wait(IntEnum):
    """What a wait is of."""

    LATE_SENDER = 0
    LATE_RECEIVER = 1
    BARRIER = 2
    N_TO_N = 3
    ONE_TO_N = 4
    N_TO_ONE = 5
    OMP_BARRIER = 6
    OMP_IDLE = 7
    NONE = 8

def segments(
    program: tuple[NDArray[Any], ...],
    calls: tuple[NDArray[Any], ...],
    between: NDArray[Any],
    regions: tuple[NDArray[Any], ...],
    parallel: tuple[NDArray[Any], ...],
    location_begin: NDArray[np.int64],
    place: NDArray[np.int64],
    nodes: int,
) -> tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.int64], int]:
    """Time of call paths alone between points: begins of segments, node, time."""

def innermost(
    rows: tuple[NDArray[Any], ...], location: NDArray[np.int32], seq: NDArray[np.int64]
) -> NDArray[np.int64]:
    """The innermost row that is open at each moment of a location, or -1."""

def paths_of(
    parent: NDArray[np.int64], symbol: NDArray[np.int64]
) -> tuple[NDArray[np.int32], NDArray[np.int32], NDArray[np.int64]]:
    """The path of each item, and of each path the one above it and its symbol."""

def order_within(
    group: NDArray[np.int32], key: NDArray[np.int64], groups: int
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """
    Rows in order of group and key, equal ones as they are, and where each group begins.
    """

def wrong_order(
    location_begin: NDArray[np.int64],
    call: NDArray[np.int64],
    send_ns: NDArray[np.int64],
    sender: NDArray[np.int32],
    counts: NDArray[np.uint8],
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Of each message: the later one that was sent before it, and the first it overtook."""

def delays(
    points: tuple[NDArray[Any], ...],
    segments: tuple[NDArray[Any], ...],
    serial: tuple[NDArray[Any], ...],
    nodes: int,
    ranks: int,
    like_scalasca: bool,
) -> tuple[
    list[NDArray[np.float64]],
    list[NDArray[np.float64]],
    NDArray[np.float64],
    NDArray[np.float64],
    NDArray[np.float64],
    NDArray[np.int32],
    int,
    int,
]:
    """Costs of delays by type, short and long, and of each wait its excess and waits within."""

def critical_path(
    points: tuple[NDArray[Any], ...],
    segments: tuple[NDArray[Any], ...],
    nodes: int,
    end_location: int,
    end_point: int,
    stops: NDArray[np.uint8],
) -> tuple[NDArray[np.float64], int, bool]:
    """The path without waits that ends last: time by node and location."""

def replay(
    rows: tuple[NDArray[Any], ...], weights: Sequence[tuple[NDArray[Any], NDArray[Any], int]]
) -> tuple[list[NDArray[np.int64]], NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """Stamps by each of the weights, the order of the rows, begins and rows of circles."""

def source_times(rows: tuple[NDArray[Any], ...], time: NDArray[np.int64]) -> NDArray[np.int64]:
    """The latest time of what each row waits for."""

def amortised(
    rows: tuple[NDArray[Any], ...],
    order: NDArray[np.int64],
    time: NDArray[np.int64],
    stamp: NDArray[np.int64],
    latency: int,
    bits: int,
) -> NDArray[np.int64]:
    """Stamps with their jumps spread over what came before them."""

def phases(
    type: NDArray[np.uint64],
    process: NDArray[np.int32],
    work: NDArray[np.int64],
    tick_begin: NDArray[np.int64],
    similarity: float,
) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
    """The phase of each occurrence, and its first tick and the number of ticks."""

def pyramid(
    begin: NDArray[np.int64],
    start_ns: NDArray[np.int64],
    end_ns: NDArray[np.int64],
    kind: NDArray[np.uint8],
    first_ns: int,
    width_ns: int,
    columns: int,
    kinds: int,
) -> NDArray[np.int64]:
    """Time of each kind in columns: by level from the finest, location, column and kind."""
