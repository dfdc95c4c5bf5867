"""The text form: a trace as a list of what happens, for tests and for reading.

A statement ends at the end of its line or at a ``|``; ``#`` begins a comment; a word with
odd characters is quoted as in JSON; times are nanoseconds. Declarations come first, and
what is not said has its usual value::

    ranks 2 threads 1              # one application; or: application 0 ranks 2 threads 1 4
    location 0.1 node "n1" name "THREAD 1.1.2" kind cpu born 0 died 900 cpu 3
    communicator 1 members 1 0 kind group     # row 0 is the world unless declared
    counter PAPI_TOT_INS unit "" mode delta type 42000050
    set 1 PAPI_TOT_INS
    path 0 main file main.c line 10           # and: path 1 solve under 0
    region "!$omp for" paradigm openmp role loop file a.c begin 3 end 9
    row bursts location 0 burst 0 polls 3     # of a table without a statement
    meta resolution_ns 1
    defect unmatched_send loss 1 "line 9: send to 1"

A rank alone (``1``, ``1.2`` with its thread, ``0/1.2`` with its application) says where
the events that follow happen; each takes the next ordinal, its *seq*::

    0 |    0 enter main | 5000 enter MPI_Send PAPI_TOT_INS=120 | 5050 send to 1 tag 7 bytes 8
      | 5100 leave | 9000 leave main
    1 | 10 enter MPI_Recv | 5900 receive from 0 tag 7 bytes 8 | 6000 leave

========================================  =================================================
``enter NAME [option value]…``            ``MPI_…`` is a call, anything else a region, with
                                          ``def`` its row where several have its name
``leave [NAME]``                          of what was entered last
``send to R [option value]…``             with a request, it is complete at ``sent request``
``sent request Q``
``post request Q``                        a receive is posted
``receive from R [option value]…``        complete; without a request, posted by its call
``begin [request Q]``                     one's part in the collective of this call
``end [option value]…``                   its end; with a request, perhaps in another call
``fork N``, ``join``                      of a team, by the thread that forks
``team begin C``, ``team end C``          being in the team; C names its communicator
``acquire L [order N]``, ``release L``    a lock
``half KIND [option value]…``             an event of a message whose other side is not told
``tell KIND [option value]…``             a row of `other_events`; an attribute takes the
                                          ordinal of the event that follows
``read COUNTER=N …``                      a reading that belongs to no other event
``skip N``                                N events happened that are not kept
``A..B gap KIND``                         nobody watched; takes no ordinal
========================================  =================================================

Options are the columns of the table that a statement tells, by their names in the schema or
shorter ones (``comm sent received bytes request path`` …), but for those that follow from
where and when it is. ``-`` takes a value away. Attributes of a call follow from the events in
it, and options change them. Rows of ``row`` stand for all of their table. A ``COUNTER=N`` may
end any event. Raw tables are not carried: the text says what happened, not how a file put it.
"""

from burstline.doors import door

__getattr__, __dir__, __all__ = door(__name__, __file__)
