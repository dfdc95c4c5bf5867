! exchange.F90 -- What test_record_languages.py expects, in Fortran: -DMPIF_H, -DUSE_MPI or
! -DUSE_MPI_F08 says through which of the interfaces.
#if defined(USE_MPI_F08)
#define COMM_TYPE type(MPI_Comm)
#define REQUEST_TYPE type(MPI_Request)
#else
#define COMM_TYPE integer
#define REQUEST_TYPE integer
#endif

program exchange
#if defined(USE_MPI_F08)
  use mpi_f08
#elif defined(USE_MPI)
  use mpi
#endif
  implicit none
#if defined(MPIF_H)
  include 'mpif.h'
#endif
  integer, parameter :: turns = 4
  integer :: rank, size, left, right, turn, to, error
  REQUEST_TYPE :: requests(2)
  double precision :: out(8), in(8)
  integer :: words(16), others(16)

  call MPI_Init(error)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, error)
  call MPI_Comm_size(MPI_COMM_WORLD, size, error)
  right = mod(rank + 1, size)
  left = mod(rank + size - 1, size)
  out = 0
  words = 0

  do turn = 1, turns
    call MPI_Irecv(in, turn, MPI_DOUBLE_PRECISION, left, 10 + turn, MPI_COMM_WORLD, &
                   requests(1), error)
    call MPI_Isend(out, turn, MPI_DOUBLE_PRECISION, right, 10 + turn, MPI_COMM_WORLD, &
                   requests(2), error)
    call MPI_Waitall(2, requests, MPI_STATUSES_IGNORE, error)
  end do
  if (rank == 0) then
    do to = 1, size - 1
      call MPI_Send(words, to, MPI_INTEGER, to, 5, MPI_COMM_WORLD, error)
    end do
  else
    call MPI_Recv(words, 16, MPI_INTEGER, MPI_ANY_SOURCE, 5, MPI_COMM_WORLD, &
                  MPI_STATUS_IGNORE, error)
  end if
  call MPI_Sendrecv(words, 2, MPI_INTEGER, left, 7, others, 2, MPI_INTEGER, right, 7, &
                    MPI_COMM_WORLD, MPI_STATUS_IGNORE, error)
  call in_reverse()
  call MPI_Bcast(out, 4, MPI_DOUBLE_PRECISION, 1, MPI_COMM_WORLD, error)
  call MPI_Gather(words, 2, MPI_INTEGER, others, 2, MPI_INTEGER, 0, MPI_COMM_WORLD, error)
  call MPI_Allreduce(MPI_IN_PLACE, out, 2, MPI_DOUBLE_PRECISION, MPI_MAX, MPI_COMM_WORLD, &
                     error)
  call MPI_Barrier(MPI_COMM_WORLD, error)
  call MPI_Finalize(error)

contains

  subroutine in_reverse()
    COMM_TYPE :: reversed

    call MPI_Comm_split(MPI_COMM_WORLD, 0, -rank, reversed, error)
    if (rank == size - 1) then
      call MPI_Send(out, 3, MPI_DOUBLE_PRECISION, size - 1, 8, reversed, error)
    end if
    if (rank == 0) then
      call MPI_Recv(in, 3, MPI_DOUBLE_PRECISION, MPI_ANY_SOURCE, MPI_ANY_TAG, reversed, &
                    MPI_STATUS_IGNORE, error)
    end if
    call MPI_Allreduce(out, in, 3, MPI_DOUBLE_PRECISION, MPI_SUM, reversed, error)
    call MPI_Comm_free(reversed, error)
  end subroutine

end program
