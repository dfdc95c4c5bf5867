"""Identities of what a trace gives: what is counted in two ways is the same.

`facts_of` asks each analysis of a trace once, and gives facts by name: numbers and arrays. An
identity reads facts, and gives two sides and how far they may lie apart: 0 of whole numbers,
half a unit a value of times that were rounded value by value, and a little of factors.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

import burstline
from burstline.show.waits import WaitsView
from burstline.waits import PARENTS, WAITS

IDENTITIES = {}
_FACTORS = 1e-9
_OF_MESSAGES = ("latesender", "ls"), ("latereceiver", "lr")
_CATEGORIES = {
    "mpi_latesender": "mpi_point2point", "mpi_latereceiver": "mpi_point2point",
    "mpi_barrier_wait": "mpi_sync_collective", "mpi_earlyreduce": "mpi_collective",
    "mpi_latebroadcast": "mpi_collective", "mpi_wait_nxn": "mpi_collective",
    "mpi_finalize_wait": "mpi_init_exit", "omp_ebarrier_wait": "omp_ebarrier",
    "omp_ibarrier_wait": "omp_ibarrier", "omp_limited_parallelism": "omp_idle_threads",
}  # fmt: skip
_SAME = {
    "calls_of_the_summary_are_those_of_the_table": ("told calls", "calls"),
    "the_time_of_calls_is_that_of_the_table": ("told time of calls", "time of calls"),
    "bursts_of_the_summary_are_those_of_the_table": ("told bursts", "bursts"),
    "messages_of_the_summary_are_those_of_the_table": (
        "told matched messages",
        "matched messages",
    ),
    "a_whole_collective_has_all_members_of_its_communicator": (
        "members",
        "sizes of communicators",
    ),
    "values_of_call_paths_and_of_ranks_have_one_sum": ("roots", "sums by rank"),
    "values_of_windows_have_the_same_sum": ("by window", "divided"),
}
"""Facts that are the same, whoever tells them."""
_DELAYS = sorted(set(WAITS.values()) - {""})
_SINGLE = [name for name in WAITS if WAITS[name] and name != "omp_idle_threads"]
_EXPLAINED = [name for name in WAITS if name not in ("mpi_earlyscan", "omp_idle_threads")]


def facts_of(trace):
    """Facts by name, of which identities are made."""
    return {
        **_of_tables(trace),
        **_of_summary(burstline.summarise(trace, full=True)),
        **_of_waits(burstline.wait_states(trace, by="rank")),
        **_of_path(trace),
        **_of_parts(trace),
    }


def _columns(table, *names):
    return [table[name].fill_null(0).to_numpy() for name in names]


def _of_tables(trace):
    location, enter, leave, sent, received = _columns(
        trace.calls, "location", "enter_ns", "leave_ns", "sent_bytes", "received_bytes"
    )
    named = np.array(trace.calls["operation"].to_pylist() or [""])
    calls = [named == name for name in sorted(set(trace.calls["operation"].to_pylist()))]
    of_burst, start, end = _columns(trace.bursts, "location", "start_ns", "end_ns")
    places = trace.locations.num_rows
    first, last = np.zeros((2, places), np.int64)
    for place in np.unique(location):
        first[place] = enter[location == place].min()
        last[place] = leave[location == place].max()
    computes = np.isin(of_burst, location)
    instances = trace.table("collectives").to_pylist()
    members = np.bincount(
        trace.table("collective_members")["collective"].to_numpy(), minlength=len(instances)
    )
    of_communicator = [len(each) for each in trace.communicators["members"].to_pylist()]
    whole = [k for k, each in enumerate(instances) if each["complete"]]
    return {
        "calls": np.array([each.sum() for each in calls], np.int64),
        "time of calls": np.array([(leave - enter)[each].sum() for each in calls], np.int64),
        "sent by calls": np.array([sent[each].sum() for each in calls], np.int64),
        "received by calls": np.array([received[each].sum() for each in calls], np.int64),
        "in calls": np.bincount(location, leave - enter, places).astype(np.int64),
        "in bursts": np.bincount(of_burst[computes], (end - start)[computes], places).astype(
            np.int64
        ),
        "lifetimes": last - first,
        "bursts": trace.bursts.num_rows,
        "matched messages": trace.messages.num_rows,
        "members": members[whole],
        "sizes of communicators": np.array(
            [of_communicator[instances[k]["communicator"]] for k in whole], np.int64
        ),
    }


def _of_summary(summary):
    calls = [summary.calls[name] for name in sorted(summary.calls)]
    efficiency = summary.efficiency
    return {
        "told calls": np.array([each.count for each in calls], np.int64),
        "told time of calls": np.array([each.time_ns for each in calls], np.int64),
        "told sent": np.array([each.bytes_sent for each in calls], np.int64),
        "told received": np.array([each.bytes_received for each in calls], np.int64),
        "told matched messages": summary.matched_messages,
        "told bursts": summary.bursts,
        "parallel": efficiency.parallel or 0.0,
        "load balance": efficiency.load_balance or 0.0,
        "communication": efficiency.communication or 0.0,
        "useful time": np.array(efficiency.useful_ns, np.int64),
        "runtime": efficiency.runtime_ns,
    }


def _of_waits(waits):
    profile = waits.profile
    nothing = np.zeros((profile.call_paths.num_rows, profile.locations.num_rows), np.int64)
    stored = {name: profile.exclusive(name) for name in profile.stored}
    in_mpi = np.array(profile.call_paths["paradigm"].to_pylist()) == "mpi"
    single = np.array(waits.instances["metric"].to_pylist() or [""])
    length = waits.instances["wait_ns"].to_numpy()
    told = waits.as_dict()["metrics"]
    shown = dict.fromkeys(profile.stored, 0)
    for metric, *_, value in WaitsView(replace(waits, by=())).rows()[1]:
        shown[metric] += value
    facts = {name: stored.get(name, nothing) for name in PARENTS}
    facts |= {f"factor {name}": value or 0.0 for name, value in waits.efficiency.items()}
    facts |= {
        f"single {name}": int(length[single == name].sum()) if len(length) else 0
        for name in _SINGLE
    }
    facts |= {f"charged to nobody {name}": 0 for name in _DELAYS}
    facts |= {
        f"charged to nobody {name}": value
        for name, value in waits.coverage["unexplained_ns"].items()
    }
    return facts | {
        "visits of calls": int(facts["visits"][in_mpi].sum()),
        "roots": np.array([profile.total(name) for name in profile.stored], np.int64),
        "sums by rank": np.array(
            [sum(part.metrics[name] for part in waits.by) for name in profile.stored], np.int64
        ),
        "in JSON": np.array([told[name] for name in profile.stored], np.int64),
        "in the table": np.array([shown[name] for name in profile.stored], np.int64),
        "from rank to rank": int(waits.delays["wait_ns"].to_numpy().sum()),
        "is circular": int(waits.coverage["critical_path_is_circular"]),
        "threads": int(np.any(profile.locations["thread"].to_numpy() != 0)),
    }


def _of_path(trace):
    """When the critical path may begin, and when it ends, of programs that begin and end."""
    [enter] = _columns(trace.calls, "enter_ns")
    named = np.array(trace.calls["operation"].to_pylist() or [""])
    starts = enter[np.char.startswith(named, "MPI_Init") & (named != "MPI_Initialized")]
    ends = enter[named == "MPI_Finalize"]
    roles = np.array(trace.table("region_defs")["role"].to_pylist() or [""])
    location, region, parent, begins, leaves = _columns(
        trace.table("regions"), "location", "region", "parent", "enter_ns", "leave_ns"
    )
    inside = trace.table("regions")["parent"].is_valid().to_numpy()
    around = np.searchsorted(location, location) + parent
    is_barrier = np.isin(roles[region[around]], ("barrier", "implicit_barrier"))
    known = len(starts) == len(ends) == len(np.unique(trace.calls["location"].to_numpy()))
    return {
        "starts": starts if known else np.zeros(0, np.int64),
        "end": int(ends.max()) if known and len(ends) else 0,
        "run in barriers": int((leaves - begins)[inside & is_barrier].sum()),
    }


def _of_parts(trace):
    structure = burstline.detect(trace)
    enter, leave = _columns(trace.calls, "enter_ns", "leave_ns")
    middle = int(np.median(enter))
    width = max(1, int(leave.max() - trace.locations["born_ns"].to_numpy().min()) // 3)
    by_window = burstline.wait_states(trace, by=width)
    divided = [
        name
        for name in by_window.profile.stored
        if name not in by_window.coverage["not_divided"]
    ]
    halves = [
        burstline.select(trace, end_ns=middle),
        burstline.select(trace, start_ns=middle),
    ]
    of_halves = [_columns(half.calls, "enter_ns", "leave_ns") for half in halves]
    matching = burstline.match([trace, halves[1]])
    return {
        "expanded": sum(len(structure.expand(k)) for k in range(len(structure.ranks))),
        "calls of the program": structure.calls,
        "fidelity": structure.fidelity,
        "calls of halves": np.array([len(begins) for begins, _ in of_halves], np.int64),
        "calls across": int(((enter < middle) & (leave > middle)).sum()),
        "time of halves": np.array([(e - b).sum() for b, e in of_halves], np.int64),
        "rows of bursts": matching.pairs.num_rows,
        "bursts of runs": np.array(matching.bursts, np.int64),
        "bursts in common": int(matching.shared[0, 1]),
        "by window": np.array(
            [sum(part.metrics[name] for part in by_window.by) for name in divided], np.int64
        ),
        "divided": np.array([by_window.profile.total(name) for name in divided], np.int64),
    }


def _identity(function):
    IDENTITIES[function.__name__] = function
    return function


for _name, _both in _SAME.items():
    IDENTITIES[_name] = lambda facts, both=_both: (facts[both[0]], facts[both[1]], 0)


@_identity
def bytes_of_the_summary_are_those_of_the_table(facts):
    return (
        np.append(facts["told sent"], facts["told received"]),
        np.append(facts["sent by calls"], facts["received by calls"]),
        0,
    )


@_identity
def every_call_is_visited_once(facts):
    return facts["visits of calls"], facts["calls"].sum(), 0


@_identity
def the_time_in_mpi_is_that_of_the_calls(facts):
    return facts["mpi"].sum(), facts["time of calls"].sum(), 0


@_identity
def calls_and_bursts_fill_the_lifetime_of_a_thread(facts):
    return facts["in calls"] + facts["in bursts"], facts["lifetimes"], 0


@_identity
def every_message_is_sent_and_received(facts):
    sent = facts["comms_send"].sum() + facts["syncs_send"].sum()
    return sent, facts["comms_recv"].sum() + facts["syncs_recv"].sum(), 0


@_identity
def time_is_execution_overhead_and_idle_threads(facts):
    return facts["time"], facts["execution"] + facts["overhead"] + facts["omp_idle_threads"], 0


@_identity
def execution_is_computation_mpi_and_openmp(facts):
    return facts["execution"], facts["comp"] + facts["mpi"] + facts["omp_time"], 0


@_identity
def json_and_table_are_the_profile(facts):
    both = np.append(facts["in JSON"], facts["in the table"])
    return both, np.tile(facts["roots"], 2), 0


@_identity
def single_waits_are_the_waits_of_call_paths(facts):
    single = [facts[f"single {name}"] for name in _SINGLE]
    return single, [facts[name].sum() for name in _SINGLE], 0


@_identity
def waits_from_rank_to_rank_are_all_waits_in_mpi(facts):
    single = sum(facts[f"single {name}"] for name in _SINGLE if name.startswith("mpi_"))
    return facts["from rank to rank"], single + facts["mpi_finalize_wait"].sum(), 0


@_identity
def waits_lie_in_calls_of_their_kind(facts):
    beyond = [
        np.maximum(facts[wait] - facts[whole], 0).sum() for wait, whole in _CATEGORIES.items()
    ]
    return beyond, np.zeros(len(beyond)), 0


@_identity
def waits_for_messages_are_direct_or_indirect(facts):
    left = [facts[f"mpi_wait_{how}_{wait}"] for wait, _ in _OF_MESSAGES for how in _CAUSES]
    return left[0] + left[1] + left[2] + left[3], _messages(facts), 0


@_identity
def waits_for_messages_are_propagating_or_terminal(facts):
    left = [facts[f"mpi_wait_{how}_{short}"] for _, short in _OF_MESSAGES for how in _EFFECTS]
    return left[0] + left[1] + left[2] + left[3], _messages(facts), 0


_CAUSES, _EFFECTS = ("direct", "indirect"), ("propagating", "terminal")


def _messages(facts):
    return sum(facts[f"mpi_{wait}"] for wait, _ in _OF_MESSAGES)


def _charged(facts, names):
    """What delays are charged, and charged to nobody, and what is waited."""
    parts = [facts[part] for part in PARENTS if PARENTS[part] in names]
    nobody = sum(facts[f"charged to nobody {name}"] for name in names)
    waited = sum(facts[wait].sum() for wait in WAITS if WAITS[wait] in names)
    charged = sum(part.sum() for part in parts)
    return charged + nobody, waited, sum(map(np.count_nonzero, parts))


def charged_to_nobody(facts):
    """How much of what is waited is charged to nobody, and how much is waited."""
    waited = sum(int(facts[wait].sum()) for wait, delay in WAITS.items() if delay)
    return sum(facts[f"charged to nobody {name}"] for name in _DELAYS), waited


@_identity
def delays_of_messages_cost_what_is_waited(facts):
    return _charged(facts, [f"delay_{wait}_aggregate" for wait, _ in _OF_MESSAGES])


@_identity
def delays_of_collectives_cost_what_is_waited(facts):
    kinds = ("barrier", "n21", "12n", "n2n")
    return _charged(facts, [f"delay_{kind}_aggregate" for kind in kinds])


@_identity
def delays_of_threads_cost_what_is_waited(facts):
    return _charged(facts, [f"delay_{kind}_aggregate" for kind in ("ompbarrier", "ompidle")])


@_identity
def delay_costs_are_the_sum_of_their_kinds(facts):
    parts = [name for name in PARENTS if PARENTS[name] in _DELAYS]
    whole = [facts["delay"], sum(facts[name] for name in _DELAYS)]
    return whole, [sum(facts[name] for name in parts)] * 2, 0


@_identity
def the_critical_path_goes_from_the_start_to_the_end(facts):
    lengths = facts["end"] - facts["starts"]
    if not len(lengths) or facts["is circular"]:
        return 0, 0, 0
    path = facts["critical_path"].sum()
    # What a thread runs while it waits in a barrier is taken as waiting.
    return path, lengths[np.argmin(np.abs(lengths - path))], facts["run in barriers"]


@_identity
def what_is_on_the_path_and_beside_it_is_all_that_is_not_waited(facts):
    useful = facts["critical_path_activities"] + facts["non_critical_path_activities"]
    if facts["threads"]:  # of workers only some time counts
        return np.maximum(useful - facts["time"], 0).sum(), 0, 0
    return useful, facts["time"] - sum(facts[name] for name in _EXPLAINED), 0


@_identity
def performance_impact_is_the_sum_of_its_parts(facts):
    imbalance = facts["intra_partition_imbalance"] + facts["inter_partition_imbalance"]
    parts = facts["critical_path_activities"] + imbalance
    return facts["performance_impact"], parts + facts["non_critical_path_activities"], 0


@_identity
def the_factors_multiply_to_the_parallel_efficiency(facts):
    return (
        [facts["parallel"], facts["factor parallel"], facts["factor hybrid"]],
        [
            facts["load balance"] * facts["communication"],
            facts["factor load_balance"] * facts["factor communication"],
            facts["factor mpi"] * facts["factor openmp"],
        ],
        _FACTORS,
    )


@_identity
def communication_is_serialisation_times_transfer(facts):
    product = facts["factor serialisation"] * facts["factor transfer"]
    return facts["factor communication"], product, _FACTORS


@_identity
def the_parallel_efficiency_is_useful_time_by_all_time(facts):
    whole = max(len(facts["useful time"]) * facts["runtime"], 1)
    return facts["parallel"], facts["useful time"].sum() / whole, _FACTORS


@_identity
def the_program_expanded_makes_the_calls_again(facts):
    return facts["expanded"] * facts["fidelity"], facts["calls of the program"], _FACTORS


@_identity
def halves_have_the_calls_of_the_whole(facts):
    return (
        [facts["calls of halves"].sum() - facts["calls across"], facts["time of halves"].sum()],
        [facts["calls"].sum(), facts["time of calls"].sum()],
        0,
    )


@_identity
def each_burst_of_two_runs_stands_in_one_row(facts):
    apart = facts["bursts of runs"].sum() - facts["bursts in common"]
    return facts["rows of bursts"], apart, 0


def is_broken(name, facts):
    """Whether the sides of an identity lie apart."""
    left, right, far = IDENTITIES[name](facts)
    left, right = np.asarray(left), np.asarray(right)
    return left.shape != right.shape or bool((np.abs(left - right) > far).any())


def violated(facts):
    """The identities that do not hold."""
    return [name for name in IDENTITIES if is_broken(name, facts)]
