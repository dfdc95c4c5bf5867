"""The metrics of waits: the tree they stand in, and what each means."""

from __future__ import annotations

from difflib import get_close_matches
from typing import Final, NamedTuple

import numpy as np

from burstline.columns import Integers
from burstline.errors import ParameterError, printable
from burstline.model import Profile


class Metric(NamedTuple):
    """A metric of the tree."""

    name: str
    parent: str  # empty of a root
    title: str
    unit: str
    description: str
    is_sum: bool  # of its children, and nothing else


def _metrics_from(unit: str, text: str) -> list[Metric]:
    """Metrics from lines `name | title | description`, indented by two below their parents.

    The name of one that is nothing but the sum of its children ends with ``=``. Delay costs of
    a kind are those of short term and long term.
    """
    rows: list[Metric] = []
    above: list[str] = []
    for line in text.strip("\n").splitlines():
        depth = (len(line) - len(line.lstrip())) // 2
        marked, title, description = (part.strip() for part in line.split("|"))
        name = marked.removesuffix("=")
        del above[depth:]
        parent = above[-1] if above else ""
        rows.append(Metric(name, parent, title, unit, description, marked != name))
        above.append(name)
        if name.endswith("_aggregate"):
            short, next_ones = name.removesuffix("_aggregate"), "waits of the next in the chain"
            far, others = f"{short}_longterm", "waits further on"
            rows.append(Metric(short, name, "Short-term", unit, next_ones, is_sum=False))
            rows.append(Metric(far, name, "Long-term", unit, others, is_sum=False))
    return rows


METRICS: Final = (
    *_metrics_from("sec", """
time | Time | time of all threads, idle ones too
  execution | Execution | time without idle threads and the measurement's own
    comp | Computation | time outside of MPI and OpenMP's own
      off_processor | Off the processor | of this: long stretches that hardly computed: in \
files, asleep, or waiting for a processor
    mpi | MPI | time in calls of MPI
      mpi_management | Management | starting, ending, communicators, files, windows
        mpi_init_exit | Init and Finalize | MPI_Init and MPI_Finalize
          mpi_init_completion | Init completion | after the first rank has left MPI_Init
          mpi_finalize_wait | Wait at Finalize | until the last rank enters MPI_Finalize
        mpi_mgmt_comm | Communicators | making and asking communicators
        mpi_mgmt_file | Files | opening, closing and placing in files
        mpi_mgmt_win | Windows | making and freeing windows
      mpi_synchronization | Synchronization | barriers
        mpi_sync_collective | Collective | barriers of a communicator
          mpi_barrier_wait | Wait at Barrier | until the last rank enters the barrier
          mpi_barrier_completion | Barrier completion | after the first rank has left it
      mpi_communication | Communication | transfers of data
        mpi_point2point | Point-to-point | sends, receives, and their completion
          mpi_latesender | Late Sender | until the sender starts to send
            mpi_latesender_wo | Messages in wrong order | of this: an earlier message came later
              mpi_lswo_different | From different sources | of another sender
              mpi_lswo_same | From same source | of the same sender
          mpi_latereceiver | Late Receiver | until the receiver posts its receive
        mpi_collective | Collective | collective communication
          mpi_earlyreduce | Early Reduce | the root waits for the last that sends
          mpi_earlyscan | Early Scan | until the last of the lower ranks comes
          mpi_latebroadcast | Late Broadcast | until the root comes
          mpi_wait_nxn | Wait at N x N | until the last rank comes
          mpi_nxn_completion | N x N completion | after the first rank has left
        mpi_rma_communication | One-sided | remote memory, without wait states
      mpi_io | File I/O | reading and writing files
    omp_time | OpenMP | time in OpenMP's own
      omp_management | Management | starting and ending teams
        omp_fork | Fork | from the fork until a thread starts
      omp_synchronization | Synchronization | barriers, critical sections, locks
        omp_barrier | Barrier | barriers of both kinds
          omp_ebarrier | Explicit | barriers that the program asks for
            omp_ebarrier_wait | Wait at explicit barrier | until the last thread comes
          omp_ibarrier | Implicit | barriers at the end of constructs
            omp_ibarrier_wait | Wait at implicit barrier | until the last thread comes
        omp_critical | Critical | critical sections and atomics
          omp_lock_contention_critical | Lock contention | until it is released by another
        omp_lock_api | Lock API | calls of omp_set_lock and its like
          omp_lock_contention_api | Lock contention | until it is released by another
        omp_ordered | Ordered | ordered constructs
        omp_taskwait | Task wait | waiting for tasks
      omp_flush | Flush | flushing memory
  overhead | Overhead | writing the trace while the program ran
  omp_idle_threads | Idle threads | threads that are in no parallel region
    omp_limited_parallelism | Limited parallelism | of this: regions with fewer threads
"""),
    *_metrics_from("occ", "visits | Visits | how often a call path was entered"),
    *_metrics_from("occ", """
syncs= | Synchronizations | communication without payload
  syncs_p2p= | Point-to-point | messages
    syncs_send | Sends | sends without payload
      mpi_slr_count | Late Receivers | of these: waits for the receiver
    syncs_recv | Receives | receives without payload
      mpi_sls_count | Late Senders | of these: waits for the sender
        mpi_slswo_count | Messages in wrong order | of these: overtaken by an earlier one
  syncs_coll | Collective | collectives without payload
comms= | Communications | communication with payload
  comms_p2p= | Point-to-point | messages
    comms_send | Sends | sends with payload
      mpi_clr_count | Late Receivers | of these: waits for the receiver
    comms_recv | Receives | receives with payload
      mpi_cls_count | Late Senders | of these: waits for the sender
        mpi_clswo_count | Messages in wrong order | of these: overtaken by an earlier one
  comms_coll= | Collective | collectives
    comms_cxch | Exchanges | in which a rank sent and received
    comms_csrc | As source | in which a rank sent alone
    comms_cdst | As destination | in which a rank received alone
"""),
    *_metrics_from("bytes", """
bytes= | Bytes | bytes that MPI transferred
  bytes_p2p= | Point-to-point | messages
    bytes_sent | Sent | in messages
    bytes_rcvd | Received | in messages
  bytes_coll= | Collective | collectives
    bytes_cout | Outgoing | by the rank
    bytes_cin | Incoming | by the rank
"""),
    *_metrics_from("sec", """
delay= | Delay costs | waiting time elsewhere that this time causes
  delay_mpi= | MPI | waits in calls of MPI
    delay_p2p= | Point-to-point | waits for messages
      delay_latesender_aggregate= | Late Sender | waits for senders
      delay_latereceiver_aggregate= | Late Receiver | waits for receivers
    delay_collective= | Collective | waits in collectives
      delay_barrier_aggregate= | Barrier | waits in barriers
      delay_n21_aggregate= | N to 1 | waits of roots
      delay_12n_aggregate= | 1 to N | waits for roots
      delay_n2n_aggregate= | N to N | waits for the last rank
  delay_omp= | OpenMP | waits of threads
    delay_ompbarrier_aggregate= | Barrier | waits for the last thread
    delay_ompidle_aggregate= | Idle threads | threads that one thread keeps idle
waitstates_propagating_vs_terminal= | Waits for messages: propagating or terminal | by effect
  mpi_wait_propagating= | Propagating waits | waits for messages that make others wait
    mpi_wait_propagating_ls | Late Sender | waits for senders
    mpi_wait_propagating_lr | Late Receiver | waits for receivers
  mpi_wait_terminal= | Terminal waits | waits for messages that make nobody wait
    mpi_wait_terminal_ls | Late Sender | waits for senders
    mpi_wait_terminal_lr | Late Receiver | waits for receivers
waitstates_direct_vs_indirect= | Waits for messages: direct or indirect | by cause
  mpi_wait_direct= | Direct waits | caused by what the other side computed too much
    mpi_wait_direct_latesender | Late Sender | waits for senders
    mpi_wait_direct_latereceiver | Late Receiver | waits for receivers
  mpi_wait_indirect= | Indirect waits | caused by waits of the other side
    mpi_wait_indirect_latesender | Late Sender | waits for senders
    mpi_wait_indirect_latereceiver | Late Receiver | waits for receivers
critical_path | Critical path | time on the chain of causes that ends last
  critical_path_imbalance | Imbalance | of this: above the mean of all threads
performance_impact= | Performance impact | what the critical path costs all threads
  performance_impact_criticalpath= | Critical path | of call paths on it
    critical_path_activities | Activities | time in call paths on it
    critical_imbalance_impact | Imbalance | time that its imbalance costs others
      intra_partition_imbalance | Intra-partition | among threads that do the same
      inter_partition_imbalance | Inter-partition | among threads that do other things
  non_critical_path_activities | Other activities | time in call paths that are not on it
imbalance | Computational imbalance | computation above or below the mean of a call path
  imbalance_above | Overload | above the mean
    imbalance_above_single | Single participant | done by one alone
  imbalance_below | Underload | below the mean
    imbalance_below_bypass | Non-participation | not done by all
      imbalance_below_singularity | Singularity | done by another alone
"""),
)  # fmt: skip
"""Every metric, parents before their children, in the words of Scalasca's reports."""

PARENTS: Final = {metric.name: metric.parent for metric in METRICS}
TITLES: Final = {metric.name: metric.title for metric in METRICS}

SUMS: Final = frozenset(metric.name for metric in METRICS if metric.is_sum)
"""Metrics that are nothing but the sums of those below them."""


def exclusive_or_zero(profile: Profile, metric: str) -> Integers:
    """A metric's values by call path and location, without those below; 0 where it has none."""
    if metric in profile.stored:
        return profile.exclusive(metric)
    return np.zeros((profile.call_paths.num_rows, profile.locations.num_rows), np.int64)


def total_or_zero(profile: Profile, metric: str) -> int:
    """The sum of a metric over all call paths and locations; 0 where it has no values."""
    return int(profile.total(metric)) if metric in profile.stored else 0


def _root_of(name: str) -> str:
    """The metric that all of a tree are in."""
    while PARENTS[name]:
        name = PARENTS[name]
    return name


def metric_named(name: str) -> str:
    """The name of a metric, given that or its title, whatever the case."""
    wanted = name.strip().lower()
    if wanted in PARENTS:
        return wanted
    titled = [metric.name for metric in METRICS if metric.title.lower() == wanted]
    titled = [name for name in titled if _root_of(name) == "time"] or titled
    if len(titled) == 1:
        return titled[0]
    if titled:
        raise ParameterError(
            f"several metrics are called {printable(name)}: {', '.join(titled)}"
        )
    known = {metric.title.lower(): metric.name for metric in METRICS}
    known |= {metric.name: metric.name for metric in METRICS}
    near = {known[each] for each in get_close_matches(wanted, known, n=4)}
    proposed = [*sorted(near & WAITS.keys()), *sorted(near - WAITS.keys())]
    hint = (
        f"did you mean {' or '.join(proposed)}?" if proposed else f"such as {', '.join(WAITS)}"
    )
    raise ParameterError(f"no metric is called {printable(name)}: {hint}")


DELAY_TYPES: Final = (
    "latesender", "latereceiver", "barrier", "n2n", "12n", "n21", "ompbarrier", "ompidle",
)  # fmt: skip
"""What delay costs are of, in the order of the kernel's types."""

WAITS: Final = {
    "mpi_latesender": "delay_latesender_aggregate",
    "mpi_latereceiver": "delay_latereceiver_aggregate",
    "mpi_earlyreduce": "delay_n21_aggregate",
    "mpi_earlyscan": "",
    "mpi_latebroadcast": "delay_12n_aggregate",
    "mpi_wait_nxn": "delay_n2n_aggregate",
    "mpi_barrier_wait": "delay_barrier_aggregate",
    "mpi_finalize_wait": "",
    "omp_ebarrier_wait": "delay_ompbarrier_aggregate",
    "omp_ibarrier_wait": "delay_ompbarrier_aggregate",
    "omp_lock_contention_critical": "",
    "omp_lock_contention_api": "",
    "omp_idle_threads": "delay_ompidle_aggregate",
}
"""Times that threads wait, and the costs of their delays; empty: nobody is blamed for them."""
