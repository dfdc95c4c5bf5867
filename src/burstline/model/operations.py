"""The MPI operations: one fixed list of names, and what kind of call each is.

A trace stores an operation as its position in :data:`NAMES`; operations that a
source knows and this list does not are appended per trace.
"""

from __future__ import annotations

from typing import Final

_P2P = """Send Recv Isend Irecv Wait Waitall Waitany Waitsome Bsend Ssend Rsend Ibsend Issend
Irsend Cancel Sendrecv Sendrecv_replace Probe Iprobe Bsend_init Recv_init Send_init
Rsend_init Ssend_init Mprobe Improbe Mrecv Imrecv Start Startall Test Testall Testany
Testsome Test_cancelled Request_free Request_get_status"""
_COLLECTIVE = """
Bcast Barrier Reduce Allreduce Alltoall Alltoallv Alltoallw Gather Gatherv Scatter
Scatterv Allgather Allgatherv Scan Exscan Reduce_scatter Reduce_scatter_block Ireduce
Iallreduce Ibarrier Ibcast Ialltoall Ialltoallv Ialltoallw Iallgather Iallgatherv
Igather Igatherv Iscatter Iscatterv Ireduce_scatter Ireduce_scatter_block Iscan Iexscan
Neighbor_allgather Ineighbor_allgather Neighbor_allgatherv Ineighbor_allgatherv
Neighbor_alltoall Ineighbor_alltoall Neighbor_alltoallv Ineighbor_alltoallv
Neighbor_alltoallw Ineighbor_alltoallw"""
_OTHER = """
Init Init_thread Finalize Comm_rank Comm_size Comm_create Comm_dup Comm_split Comm_group
Comm_free Comm_remote_group Comm_remote_size Comm_test_inter Comm_compare Cart_create
Cart_shift Cart_coords Cart_get Cart_map Cart_rank Cart_sub Cartdim_get Dims_create
Graph_get Graph_map Graph_create Graph_neighbors Graphdims_get Graph_neighbors_count
Topo_test Pack Unpack Op_create Op_free Attr_delete Attr_get Attr_put Group_difference
Group_excl Group_free Group_incl Group_intersection Group_rank Group_range_excl
Group_range_incl Group_size Group_translate_ranks Group_union Group_compare
Intercomm_create Intercomm_merge Keyval_free Keyval_create Abort Error_class
Errhandler_create Errhandler_free Errhandler_get Error_string Errhandler_set
Get_processor_name Initialized Finalized Wtick Wtime Address Buffer_attach Buffer_detach
Get_count Get_elements Pack_size Type_commit Type_contiguous Type_extent Type_free
Type_hindexed Type_hvector Type_indexed Type_lb Type_size Type_struct Type_ub
Type_vector Comm_spawn Comm_spawn_multiple Dist_graph_create Comm_split_type
Comm_dup_with_info Dist_graph_create_adjacent Comm_create_group"""
_RMA = """Win_create Win_free Put Get Accumulate Win_fence Win_start Win_complete Win_post
Win_wait Win_test Win_lock Win_unlock Get_accumulate Fetch_and_op Compare_and_swap
Win_flush Win_flush_all Win_flush_local Win_flush_local_all"""
_IO = """File_open File_close File_read File_read_all File_write File_write_all File_read_at
File_read_at_all File_write_at File_write_at_all File_write_all_begin File_write_all_end
File_read_all_begin File_read_all_end File_write_at_all_begin File_write_at_all_end
File_read_at_all_begin File_read_at_all_end File_read_ordered File_read_ordered_begin
File_read_ordered_end File_read_shared File_write_ordered File_write_ordered_begin
File_write_ordered_end File_write_shared"""
# Appended later, so that codes that are stored keep their meaning.
_LATER_P2P = """Isendrecv Isendrecv_replace Psend_init Precv_init Pready Pready_range
Pready_list Parrived"""
_LATER_OTHER = """Comm_accept Comm_connect Comm_join Comm_idup Comm_idup_with_info
Comm_disconnect Comm_get_parent Comm_set_name Comm_set_info Comm_get_info
Dist_graph_neighbors Dist_graph_neighbors_count Reduce_local Open_port Close_port
Comm_create_from_group Intercomm_create_from_groups Session_init Session_finalize
Session_get_num_psets Session_get_nth_pset Session_get_info Session_get_pset_info
Group_from_session_pset Barrier_init Bcast_init Reduce_init Allreduce_init Gather_init
Gatherv_init Scatter_init Scatterv_init Allgather_init Allgatherv_init Alltoall_init
Alltoallv_init Alltoallw_init Reduce_scatter_init Reduce_scatter_block_init Scan_init
Exscan_init Neighbor_allgather_init Neighbor_allgatherv_init Neighbor_alltoall_init
Neighbor_alltoallv_init Neighbor_alltoallw_init"""
_LATER_RMA = """Win_allocate Win_allocate_shared Win_create_dynamic Win_attach Win_detach
Rput Rget Raccumulate Rget_accumulate Win_lock_all Win_unlock_all Win_sync"""
_LATER_IO = """File_iwrite File_iwrite_all File_iwrite_at File_iwrite_at_all
File_iwrite_shared File_iread File_iread_all File_iread_at File_iread_at_all
File_iread_shared File_delete File_set_size File_preallocate File_set_view File_seek
File_seek_shared File_sync File_set_atomicity File_get_size"""
_P2P_OF_4_1 = "Request_get_status_any Request_get_status_all Request_get_status_some"
_OTHER_OF_4_1 = """Buffer_flush Buffer_iflush Comm_attach_buffer Comm_detach_buffer
Comm_flush_buffer Comm_iflush_buffer Session_attach_buffer Session_detach_buffer
Session_flush_buffer Session_iflush_buffer"""


def _names(text: str) -> tuple[str, ...]:
    return tuple(f"MPI_{name}" for name in text.split())


POINT_TO_POINT: Final = _names(f"{_P2P} {_LATER_P2P} {_P2P_OF_4_1}")
COLLECTIVES: Final = _names(_COLLECTIVE)
RMA: Final = _names(_RMA + " " + _LATER_RMA)
IO: Final = _names(_IO + " " + _LATER_IO)
NAMES: Final = _names(
    f"{_P2P} {_COLLECTIVE} {_OTHER} {_RMA} {_IO} "
    f"{_LATER_P2P} {_LATER_OTHER} {_LATER_RMA} {_LATER_IO} {_P2P_OF_4_1} {_OTHER_OF_4_1}"
)
"""Every operation; the position is the stored code. Append, never reorder."""

CODES: Final = {name: code for code, name in enumerate(NAMES)}

BLOCKING_SENDS: Final = _names("Send Bsend Ssend Rsend Sendrecv Sendrecv_replace")
IMMEDIATE_SENDS: Final = _names("Isend Ibsend Issend Irsend Isendrecv Isendrecv_replace")
STARTS: Final = _names("Start Startall")
BLOCKING_RECEIVES: Final = _names("Recv Mrecv Sendrecv Sendrecv_replace")
IMMEDIATE_RECEIVES: Final = _names("Irecv Imrecv Isendrecv Isendrecv_replace")
INITS: Final = _names("Init Init_thread")
FINALIZES: Final = _names("Finalize")
SESSION_ENDS: Final = _names("Session_init Session_finalize")
COMPLETIONS: Final = _names(
    "Wait Waitall Waitany Waitsome Test Testall Testany Testsome Request_get_status "
    f"{_P2P_OF_4_1}"
)
COUNTED: Final = frozenset(
    (
        *BLOCKING_SENDS,
        *IMMEDIATE_SENDS,
        *STARTS,
        *BLOCKING_RECEIVES,
        *IMMEDIATE_RECEIVES,
        *COLLECTIVES,
        *_names("Wait Waitall"),
    )
)
"""Operations whose calls a program decides, not its timing: no polls."""
TOGETHER: Final = _names("""
Comm_create Comm_dup Comm_split Comm_free Cart_create Cart_sub Graph_create Intercomm_create
Intercomm_merge Comm_spawn Comm_spawn_multiple Dist_graph_create Comm_split_type
Comm_dup_with_info Dist_graph_create_adjacent Comm_create_group Comm_accept Comm_connect
Comm_join Comm_idup Comm_idup_with_info Comm_disconnect Comm_create_from_group
Intercomm_create_from_groups
Win_create Win_allocate Win_allocate_shared Win_create_dynamic Win_free Win_fence
File_open File_close File_read_all File_write_all File_read_at_all File_write_at_all
File_read_ordered File_write_ordered File_iread_all File_iwrite_all File_iread_at_all
File_iwrite_at_all File_read_all_begin File_write_all_begin File_read_at_all_begin
File_write_at_all_begin File_read_ordered_begin File_write_ordered_begin File_set_size
File_preallocate File_set_view File_seek_shared File_sync File_set_atomicity""")
"""Calls that all members make together, and that are no collective communication: those
that create and free communicators, windows and files, and collective access to these."""

NON_BLOCKING_COLLECTIVES: Final = (
    *(name for name in COLLECTIVES if name.startswith("MPI_I")),
    *(name for name in TOGETHER if name.startswith(("MPI_Comm_idup", "MPI_File_i"))),
    *(name for name in TOGETHER if name.endswith("_begin")),
)

_ROLE_WORDS: Final = {
    "point2point": """Send Recv Isend Irecv Bsend Ssend Rsend Ibsend Issend Irsend Sendrecv
Sendrecv_replace Isendrecv Isendrecv_replace Probe Iprobe Mprobe Improbe Mrecv Imrecv Psend
Precv""",
    "barrier": "Barrier Ibarrier",
    "one2all": "Bcast Scatter Scatterv Ibcast Iscatter Iscatterv",
    "all2one": "Reduce Gather Gatherv Ireduce Igather Igatherv",
    "other collective": "Scan Exscan Iscan Iexscan",
}
_ROLES: Final = {
    **dict.fromkeys(COLLECTIVES, "all2all"),
    **dict.fromkeys(RMA, "rma"),
    **dict.fromkeys(IO, "file io"),
    **{name: role for role, text in _ROLE_WORDS.items() for name in _names(text)},
}


def role_of(operation: str) -> str:
    """What kind of communication an operation is, in the words of Cube's profiles.

    A persistent operation's `_init` is what it starts; `function` is any other operation,
    those that complete requests too.

    >>> role_of("MPI_Allreduce"), role_of("MPI_Scatter_init"), role_of("MPI_Waitall")
    ('all2all', 'one2all', 'function')
    """
    return _ROLES.get(operation.removesuffix("_init"), "function")
