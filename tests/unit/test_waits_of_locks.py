"""Single waits for locks blame who had the lock, and the function in which that spent most."""

from __future__ import annotations

import pytest

import burstline
from burstline.identity import call_tree
from burstline.testing import trace_of

DEFINITIONS = """
ranks 1 threads 2
communicator 1 members 0 1 kind group
region main file a.c begin 1
region hold file a.c begin 5
region look file a.c begin 7
region critical paradigm openmp role critical
region parallel paradigm openmp role parallel
region .omp_outlined. file a.c begin 9
"""
WAITS = """
0 | 0 enter main | 1 fork 2 | 1 team begin 1 | 1 enter parallel
20 enter critical | 110 acquire 7 order 1 | 115 release 7 | 116 leave
120 leave | 120 team end 1 | 121 join | 122 leave
"""
HOLDS = """
0.1 | 2 team begin 1 | 2 enter parallel
3 enter critical | 10 acquire 7 order 0
{inside}
100 release 7 | 101 leave | 110 leave | 110 team end 1
"""


def single_waits(inside):
    text = DEFINITIONS + WAITS + HOLDS.format(inside=inside)
    waits = burstline.wait_states(trace_of(text))
    rows = [row for row in waits.instances.to_pylist() if "lock" in row["metric"]]
    return [row | {"blamed": waits.path(row["cause_call_path"])[-1]} for row in rows]


@pytest.mark.parametrize(
    ("inside", "blamed"),
    [
        ("20 enter look | 30 leave | 30 enter hold | 90 leave", "hold@a.c:5"),
        # two times of 30 in one function, and 40 in another with 30 in a third of its own
        ("11 enter look | 41 leave | 41 enter hold | 61 enter look | 71 leave | 99 leave",
         "hold@a.c:5"),
        ("11 enter hold | 12 enter look | 98 leave | 99 leave", "look@a.c:7"),
        ("20 enter look | 30 leave | 31 enter hold | 41 leave", "!$omp critical"),
        ("", "!$omp critical"),
    ],
)  # fmt: skip
def test_a_wait_for_a_lock_blames_where_its_holder_was_longest(inside, blamed):
    (wait,) = single_waits(inside)

    assert wait["metric"] == "omp_lock_contention_critical"
    assert (wait["location"], wait["cause_location"]) == (0, 1)
    assert (wait["start_ns"], wait["wait_ns"]) == (20, 80)
    assert wait["blamed"] == blamed


def test_a_lock_that_nobody_else_had_is_nobodys_fault():
    other = HOLDS.format(inside="").replace("acquire 7", "acquire 8")
    other = other.replace("release 7", "release 8")
    text = DEFINITIONS + WAITS.replace("order 1", "order 0") + other

    waits = burstline.wait_states(trace_of(text))

    assert waits.instances.num_rows == 0


def test_the_body_of_a_construct_is_no_node_beside_it():
    text = (
        DEFINITIONS
        + """
    0 | 0 enter main | 1 fork 2 | 1 team begin 1 | 1 enter parallel
    2 enter .omp_outlined. | 3 enter hold | 5 leave | 6 leave
    7 leave | 7 team end 1 | 8 join | 9 leave
    0.1 | 2 team begin 1 | 2 enter parallel | 3 enter .omp_outlined. | 4 leave
    5 leave | 5 team end 1
    """
    )

    nodes = call_tree(trace_of(text)).nodes

    assert nodes["function"].to_pylist()[1:] == ["main", "!$omp parallel", "hold"]
