"""Loops cover real programs in few phases, whose main one is the loop of their time steps."""

from __future__ import annotations

import pytest

import burstline
from burstline.signature import epas, events_of
from burstline.signature.loops import loops

# how the main loop is named, how often it is repeated, and how many phases there are at most
PROGRAMS = {
    "npb_sp_S_4r": ("loop adi.f:10 (adi_)", 100, 2),
    "npb_lu_S_4r": ("loop ssor.f:121 (ssor_)", 50, 4),
    "npb_cg_S_4r_run1": ("loop cg.f:491 (cg)", 15, 4),
    "npb_cg_S_8r": ("loop cg.f:491 (cg)", 15, 4),
    "lulesh_27r_s4_i30": (None, 30, 3),
    "toy_t2_nested3": ("loop t2_nested3.c:10 (main)", 10, 1),
    "toy_irregular_run1": ("loop irregular.c:37 (main)", 20, 1),
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_the_main_loop_is_a_phase_and_few_others_are(real_traces, name):
    trace = burstline.read(real_traces / f"{name}.prv.gz", raw=False)
    events = events_of(trace)
    main, times, most = PROGRAMS[name]
    for process in range(len(events.ranks)):
        phases = loops(trace, events, process)

        boundaries = events.boundaries(process)
        covered = (boundaries[phases.end] - boundaries[phases.begin]).sum()
        weights = dict(zip(phases.names, phases.weights.tolist(), strict=True))
        assert covered >= 0.9 * events.spans()[process]
        assert times in weights.values()
        assert main is None or weights[main] == times
        assert len(weights) <= most < len(epas(events, process).names)
