! Threads that idle as rank 1 is late: the same as `late` in idle_threads.c.
module working
  use iso_c_binding
  interface
    integer(c_int) function usleep(us) bind(c, name="usleep")
      import
      integer(c_int32_t), value :: us
    end function
  end interface
contains
  subroutine shared_part(ms)
    integer, intent(in) :: ms
    integer :: i, code
    !$omp parallel private(code)
    !$omp do schedule(dynamic, 1)
    do i = 1, 4
      code = usleep(ms * 1000)
    end do
    !$omp end do
    !$omp end parallel
    code = usleep(0)
  end subroutine
end module
program late
  use mpi
  use working
  integer :: code, turn, rank
  double precision :: x, s
  call MPI_Init(code)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, code)
  x = 1
  do turn = 1, 5
    call shared_part(merge(30, 1, rank == 1))
    call MPI_Allreduce(x, s, 1, MPI_DOUBLE_PRECISION, MPI_SUM, MPI_COMM_WORLD, code)
  end do
  call MPI_Finalize(code)
end program
