"""Requests that the recorder follows, against a list that is searched."""

from __future__ import annotations

import subprocess

import pytest
from hypothesis import given
from hypothesis import strategies as st

from oracles.followed_requests import Followed, taken
from runtime_building import NATIVE, ROOT

MANY = 200_000
HANDLE = 4711 * 64
STEPS = st.lists(
    st.tuples(
        st.sampled_from(["put", "put", "take"]),
        st.integers(0, 2),  # owner
        st.sampled_from([HANDLE, HANDLE, HANDLE + 8, 64]),
        st.sampled_from([0, 8, 16, 24, 1 << 40]),  # where
        st.sampled_from([0, 0, 0, 1]),
    ),
    max_size=120,
)


@pytest.fixture(scope="module")
def table(open_mpi, tmp_path_factory):
    program = tmp_path_factory.mktemp("followed") / "program"
    source = ROOT / "tests" / "record" / "followed_requests.c"
    words = [open_mpi[0], "-std=gnu11", "-O2", f"-I{NATIVE}", source, "-o", program]
    subprocess.run(words, check=True)
    return program


def answers(program, lines):
    done = subprocess.run(
        [program],
        input="\n".join(lines),
        capture_output=True,
        text=True,
        check=True,
        timeout=20,
    )
    return list(map(int, done.stdout.split()))


@given(steps=STEPS)
def test_what_completes_is_what_a_search_of_all_would_find(table, steps):
    requests, lines, expected = [], [], []
    for number, (what, *key) in enumerate(steps, 1):
        request = Followed(*key, number)
        lines.append(" ".join(map(str, (what, *key, *([number] if what == "put" else [])))))
        if what == "put":
            requests.append(request)
        else:
            expected.append(taken(requests, request))

    assert answers(table, lines) == expected


@pytest.mark.parametrize("backwards", [False, True])
def test_a_handle_of_very_many_requests_takes_no_longer_each(table, backwards):
    """Not within the time there is, if each were looked for along all others."""
    numbers = range(1, MANY + 1)
    order = numbers[::-1] if backwards else numbers
    lines = [f"put 0 {HANDLE} {8 * number} 0 {number}" for number in numbers]
    lines += [f"take 0 {HANDLE} {8 * number} 0" for number in order]

    assert answers(table, lines) == list(order)
