"""The event types of MPI calls, and their values as operations.

Labels are not trusted: Extrae prints those of 69 and 70 the wrong way round. Calls without a
value of Extrae, which end at 215, have 1000 and their number in the recorder's table.
"""

from __future__ import annotations

from typing import Final

from burstline.extrae import event_types as types

_CALLS = {
    types.MPI_POINT_TO_POINT: """
        1 Send, 2 Recv, 3 Isend, 4 Irecv, 5 Wait, 6 Waitall, 33 Bsend, 34 Ssend,
        35 Rsend, 36 Ibsend, 37 Issend, 38 Irsend, 40 Cancel, 41 Sendrecv,
        42 Sendrecv_replace, 59 Waitany, 60 Waitsome, 61 Probe, 62 Iprobe,
        112 Bsend_init, 116 Recv_init, 117 Send_init, 121 Rsend_init, 122 Ssend_init,
        190 Mprobe, 191 Improbe, 192 Mrecv, 193 Imrecv, 1254 Isendrecv,
        1255 Isendrecv_replace, 1256 Psend_init, 1257 Precv_init, 1258 Pready,
        1259 Pready_range, 1260 Pready_list, 1261 Parrived,
        1272 Request_get_status_any, 1273 Request_get_status_all,
        1274 Request_get_status_some
    """,
    types.MPI_COLLECTIVE: """
        7 Bcast, 8 Barrier, 9 Reduce, 10 Allreduce, 11 Alltoall, 12 Alltoallv,
        13 Gather, 14 Gatherv, 15 Scatter, 16 Scatterv, 17 Allgather, 18 Allgatherv,
        30 Scan, 80 Reduce_scatter, 154 Ireduce, 155 Iallreduce, 156 Ibarrier,
        157 Ibcast, 158 Ialltoall, 159 Ialltoallv, 160 Iallgather, 161 Iallgatherv,
        162 Igather, 163 Igatherv, 164 Iscatter, 165 Iscatterv, 166 Ireduce_scatter,
        167 Iscan, 168 Reduce_scatter_block, 169 Ireduce_scatter_block, 170 Alltoallw,
        171 Ialltoallw, 174 Neighbor_allgather, 175 Ineighbor_allgather,
        176 Neighbor_allgatherv, 177 Ineighbor_allgatherv, 178 Neighbor_alltoall,
        179 Ineighbor_alltoall, 180 Neighbor_alltoallv, 181 Ineighbor_alltoallv,
        182 Neighbor_alltoallw, 183 Ineighbor_alltoallw, 214 Exscan, 215 Iexscan
    """,
    types.MPI_OTHER: """
        19 Comm_rank, 20 Comm_size, 21 Comm_create, 22 Comm_dup, 23 Comm_split,
        24 Comm_group, 25 Comm_free, 26 Comm_remote_group, 27 Comm_remote_size,
        28 Comm_test_inter, 29 Comm_compare, 31 Init, 32 Finalize, 39 Test,
        43 Cart_create, 44 Cart_shift, 45 Cart_coords, 46 Cart_get, 47 Cart_map,
        48 Cart_rank, 49 Cart_sub, 50 Cartdim_get, 51 Dims_create, 52 Graph_get,
        53 Graph_map, 54 Graph_create, 55 Graph_neighbors, 56 Graphdims_get,
        57 Graph_neighbors_count, 58 Topo_test, 76 Pack, 77 Unpack, 78 Op_create,
        79 Op_free, 81 Attr_delete, 82 Attr_get, 83 Attr_put, 84 Group_difference,
        85 Group_excl, 86 Group_free, 87 Group_incl, 88 Group_intersection,
        89 Group_rank, 90 Group_range_excl, 91 Group_range_incl, 92 Group_size,
        93 Group_translate_ranks, 94 Group_union, 95 Group_compare, 96 Intercomm_create,
        97 Intercomm_merge, 98 Keyval_free, 99 Keyval_create, 100 Abort,
        101 Error_class, 102 Errhandler_create, 103 Errhandler_free, 104 Errhandler_get,
        105 Error_string, 106 Errhandler_set, 107 Get_processor_name, 108 Initialized,
        109 Wtick, 110 Wtime, 111 Address, 113 Buffer_attach, 114 Buffer_detach,
        115 Request_free, 118 Get_count, 119 Get_elements, 120 Pack_size, 123 Start,
        124 Startall, 125 Testall, 126 Testany, 127 Test_cancelled, 128 Testsome,
        129 Type_commit, 130 Type_contiguous, 131 Type_extent, 132 Type_free,
        133 Type_hindexed, 134 Type_hvector, 135 Type_indexed, 136 Type_lb,
        137 Type_size, 138 Type_struct, 139 Type_ub, 140 Type_vector, 151 Comm_spawn,
        152 Comm_spawn_multiple, 153 Request_get_status, 173 Dist_graph_create,
        194 Comm_split_type, 211 Comm_dup_with_info, 212 Dist_graph_create_adjacent,
        213 Comm_create_group, 1103 Comm_accept, 1104 Comm_connect, 1105 Comm_join,
        1106 Comm_idup, 1108 Comm_disconnect, 1109 Comm_get_parent, 1117 Comm_set_name,
        1118 Comm_set_info, 1119 Comm_get_info, 1132 Dist_graph_neighbors,
        1133 Dist_graph_neighbors_count, 1152 Reduce_local, 1153 Open_port,
        1154 Close_port, 1232 Barrier_init, 1233 Bcast_init, 1234 Reduce_init,
        1235 Allreduce_init, 1236 Gather_init, 1237 Gatherv_init, 1238 Scatter_init,
        1239 Scatterv_init, 1240 Allgather_init, 1241 Allgatherv_init, 1242 Alltoall_init,
        1243 Alltoallv_init, 1244 Alltoallw_init, 1245 Reduce_scatter_init,
        1246 Reduce_scatter_block_init, 1247 Scan_init, 1248 Exscan_init,
        1249 Neighbor_allgather_init, 1250 Neighbor_allgatherv_init,
        1251 Neighbor_alltoall_init, 1252 Neighbor_alltoallv_init,
        1253 Neighbor_alltoallw_init, 1262 Session_init, 1263 Session_finalize,
        1264 Session_get_num_psets, 1265 Session_get_nth_pset, 1266 Session_get_info,
        1267 Session_get_pset_info, 1268 Group_from_session_pset,
        1269 Comm_create_from_group, 1270 Intercomm_create_from_groups,
        1271 Comm_idup_with_info, 1275 Buffer_flush, 1276 Buffer_iflush,
        1277 Comm_attach_buffer, 1278 Comm_detach_buffer, 1279 Comm_flush_buffer,
        1280 Comm_iflush_buffer, 1281 Session_attach_buffer, 1282 Session_detach_buffer,
        1283 Session_flush_buffer, 1284 Session_iflush_buffer
    """,
    types.MPI_ONE_SIDED: """
        63 Win_create, 64 Win_free, 65 Put, 66 Get, 67 Accumulate, 68 Win_fence,
        69 Win_start, 70 Win_complete, 71 Win_post, 72 Win_wait, 73 Win_test,
        74 Win_lock, 75 Win_unlock, 172 Get_accumulate, 184 Fetch_and_op,
        185 Compare_and_swap, 186 Win_flush, 187 Win_flush_all, 188 Win_flush_local,
        189 Win_flush_local_all, 1156 Win_allocate, 1157 Win_allocate_shared,
        1158 Win_create_dynamic, 1166 Rput, 1167 Rget, 1168 Raccumulate,
        1169 Rget_accumulate, 1177 Win_lock_all, 1179 Win_unlock_all, 1184 Win_sync,
        1185 Win_attach, 1186 Win_detach
    """,
    types.MPI_FILE: """
        141 File_open, 142 File_close, 143 File_read, 144 File_read_all, 145 File_write,
        146 File_write_all, 147 File_read_at, 148 File_read_at_all, 149 File_write_at,
        150 File_write_at_all, 195 File_write_all_begin, 196 File_write_all_end,
        197 File_read_all_begin, 198 File_read_all_end, 199 File_write_at_all_begin,
        200 File_write_at_all_end, 201 File_read_at_all_begin, 202 File_read_at_all_end,
        203 File_read_ordered, 204 File_read_ordered_begin, 205 File_read_ordered_end,
        206 File_read_shared, 207 File_write_ordered, 208 File_write_ordered_begin,
        209 File_write_ordered_end, 210 File_write_shared, 1201 File_iwrite,
        1202 File_iwrite_all, 1203 File_iwrite_at, 1204 File_iwrite_at_all,
        1205 File_iwrite_shared, 1206 File_iread, 1207 File_iread_all, 1208 File_iread_at,
        1209 File_iread_at_all, 1210 File_iread_shared, 1223 File_delete,
        1224 File_set_size, 1225 File_preallocate, 1226 File_set_view, 1227 File_seek,
        1228 File_seek_shared, 1229 File_sync, 1230 File_set_atomicity, 1231 File_get_size
    """,
}

MPI_TYPES: Final = tuple(_CALLS)
"""Event types of MPI calls."""

MPI_EVENTS: Final = {
    f"MPI_{name}": (kind, int(value))
    for kind, calls in _CALLS.items()
    for value, name in (call.split() for call in calls.split(","))
}
"""Event type and value of each operation that has one; a record may say another type."""

MPI_OPERATIONS: Final = {value: name for name, (_, value) in MPI_EVENTS.items()}
"""Operation of each value, a name of :data:`burstline.model.operations.NAMES`."""

MPI_EVENTS["MPI_Init_thread"] = MPI_EVENTS["MPI_Init"]
