! Rank 1 computes three times as long as the others, in relax; exchange only communicates.
module work_and_wait
  use mpi
  use iso_c_binding
  implicit none
  interface
    integer(c_int) function usleep(microseconds) bind(c)
      import
      integer(c_int), value :: microseconds
    end function
  end interface
contains
  subroutine relax(units)
    integer, intent(in) :: units
    integer(c_int) :: status
    status = usleep(40000_c_int * units)
  end subroutine

  subroutine exchange(rank, ranks)
    integer, intent(in) :: rank, ranks
    double precision :: halo(64)
    integer :: to, from, code
    halo = rank
    to = modulo(rank + 1, ranks)
    from = modulo(rank - 1, ranks)
    call MPI_Sendrecv_replace(halo, 64, MPI_DOUBLE_PRECISION, to, 0, from, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE, code)
  end subroutine
end module

program imbalance
  use work_and_wait
  implicit none
  integer :: rank, ranks, step, code
  call MPI_Init(code)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, code)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks, code)
  do step = 1, 6
    call relax(merge(3, 1, rank == 1))
    call exchange(rank, ranks)
  end do
  call MPI_Finalize(code)
end program
