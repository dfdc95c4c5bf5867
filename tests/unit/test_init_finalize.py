"""Init and Finalize are instances over the ranks of an application, whatever the source."""

from __future__ import annotations

from burstline.model import init_finalize
from burstline.testing import trace_of

TWO = """
application 0 ranks 2 threads 2
application 1 ranks 1
0/0 | 0 enter MPI_Init | 5 leave | 6 enter MPI_Send | 7 leave | 9 enter MPI_Finalize | 10 leave
0/1.1 | 1 enter MPI_Init_thread | 5 leave
1/0 | 2 enter MPI_Comm_rank | 3 leave | 4 enter MPI_Init | 7 leave
"""


def instances(found):
    """Give (application, whether Finalize, whether complete, members) of each instance."""
    members = [[] for _ in found.application]
    columns = (found.instance.tolist(), found.location.tolist(), found.call.tolist())
    for instance, location, call in zip(*columns, strict=True):
        members[instance].append((location, call))
    heads = (found.application.tolist(), found.is_finalize.tolist(), found.complete.tolist())
    return list(zip(*heads, members, strict=True))


def test_each_application_has_its_own_and_any_thread_may_make_the_call():
    assert instances(init_finalize(trace_of(TWO))) == [
        (0, False, True, [(0, 0), (3, 0)]),
        (0, True, False, [(0, 2)]),
        (1, False, True, [(4, 1)]),
    ]


def test_a_process_that_says_it_twice_is_in_two_instances_and_one_without_mpi_in_none():
    trace = trace_of("ranks 1 | 0 | 0 enter MPI_Init | 1 leave | 2 enter MPI_Init | 3 leave")

    assert instances(init_finalize(trace)) == [
        (0, False, True, [(0, call)]) for call in range(2)
    ]
    assert instances(init_finalize(trace_of("ranks 2"))) == []
