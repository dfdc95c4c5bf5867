! A solver that works longer and longer: each step relaxes a plane, point after point, there and
! back, and later steps make up to four times as many relaxations as the first ones.
!
!     growing SIZE STEPS
!
! The plane has SIZE^2 points in columns, of which each rank has some.
! Which calls are made depends on STEPS alone.
program growing
  use mpi
  implicit none
  integer, parameter :: real64 = kind(1d0), fewest = 6, most = 24
  real(real64), parameter :: over = 1.2d0
  integer :: size, columns, rank, ranks, left, right, error, step, steps, turn, turns, i, j, first
  real(real64) :: change, all_change, total
  real(real64), allocatable :: u(:, :), source(:, :)
  call MPI_Init(error)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, error)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks, error)
  size = word(1, 1200)
  steps = word(2, 600)
  first = size * rank / ranks
  columns = size * (rank + 1) / ranks - first
  left = merge(rank - 1, MPI_PROC_NULL, rank > 0)
  right = merge(rank + 1, MPI_PROC_NULL, rank < ranks - 1)
  allocate (u(0:size + 1, 0:columns + 1), source(size, columns))
  u = 0
  total = 0
  do step = 0, steps - 1
    call prepare()
    turns = fewest + (most - fewest) * step / max(steps - 1, 1)
    do turn = 1, turns
      call exchange()
      change = 0
      call relax(1, size, 1)
      call exchange()
      call relax(size, 1, -1)
      call MPI_Allreduce(change, all_change, 1, MPI_DOUBLE_PRECISION, MPI_SUM, MPI_COMM_WORLD, error)
      total = total + all_change
    end do
  end do
  if (rank == 0) print '(a, es15.7)', 'checksum', total
  call MPI_Finalize(error)
contains
  integer function word(n, otherwise)
    integer, intent(in) :: n, otherwise
    character(len=32) :: text
    call get_command_argument(n, text)
    word = otherwise
    if (len_trim(text) > 0) read (text, *) word
  end function word

  subroutine prepare() ! a source that moves on
    do j = 1, columns
      do i = 1, size
        source(i, j) = 1d-3 * mod(i + 3 * (first + j) + step, 17)
      end do
    end do
  end subroutine prepare

  subroutine exchange()
    call MPI_Sendrecv(u(1, columns), size, MPI_DOUBLE_PRECISION, right, 1, &
      u(1, 0), size, MPI_DOUBLE_PRECISION, left, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE, error)
    call MPI_Sendrecv(u(1, 1), size, MPI_DOUBLE_PRECISION, left, 2, &
      u(1, columns + 1), size, MPI_DOUBLE_PRECISION, right, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE, error)
  end subroutine exchange

  subroutine relax(start, end, stride) ! a point needs the one before it
    integer, intent(in) :: start, end, stride
    real(real64) :: new
    do j = 1, columns
      do i = start, end, stride
        new = 0.25d0 * (u(i - stride, j) + u(i + stride, j) + u(i, j - 1) + u(i, j + 1)) &
          + source(i, j) / sqrt(1 + u(i - stride, j) * u(i - stride, j))
        new = u(i, j) + over * (new - u(i, j))
        change = change + abs(new - u(i, j))
        u(i, j) = new
      end do
    end do
  end subroutine relax
end program growing
