! Implicit steps by line sweeps, in the manner of NPB's BT and SP: a step exchanges faces, computes
! a right hand side, and solves systems of three diagonals along x, along y and along z, whose
! pivots bend with the solution.
!
!     sweeps SIZE STEPS
!
! The box has SIZE^3 points in layers along z, of which each rank has some. Lines along z go
! through all ranks, in blocks, so that ranks work at the same time.
! Which calls are made depends on ranks and STEPS alone.
module box
  use mpi
  implicit none
  integer, parameter :: real64 = kind(1d0), blocks = 4, checked = 50
  real(real64), parameter :: side = -0.2d0, middle = 1.4d0, bend = 0.01d0
  integer :: size, layers, rank, ranks, below, above, error
  real(real64), allocatable :: u(:, :, :), change(:, :, :), factor(:, :, :), edge(:, :, :)
contains
  integer function word(n, otherwise)
    integer, intent(in) :: n, otherwise
    character(len=32) :: text
    call get_command_argument(n, text)
    word = otherwise
    if (len_trim(text) > 0) read (text, *) word
  end function word

  subroutine exchange_faces()
    integer :: requests(4), count
    count = size * size
    call MPI_Irecv(u(1, 1, 0), count, MPI_DOUBLE_PRECISION, below, 1, MPI_COMM_WORLD, requests(1), error)
    call MPI_Irecv(u(1, 1, layers + 1), count, MPI_DOUBLE_PRECISION, above, 2, MPI_COMM_WORLD, requests(2), error)
    call MPI_Isend(u(1, 1, layers), count, MPI_DOUBLE_PRECISION, above, 1, MPI_COMM_WORLD, requests(3), error)
    call MPI_Isend(u(1, 1, 1), count, MPI_DOUBLE_PRECISION, below, 2, MPI_COMM_WORLD, requests(4), error)
    call MPI_Waitall(4, requests, MPI_STATUSES_IGNORE, error)
  end subroutine exchange_faces

  subroutine right_hand_side()
    integer :: i, j, k
    change = 0
    do k = 1, layers
      do j = 2, size - 1
        do i = 2, size - 1
          change(i, j, k) = 0.1d0 * (u(i - 1, j, k) + u(i + 1, j, k) + u(i, j - 1, k) + u(i, j + 1, k) &
            + u(i, j, k - 1) + u(i, j, k + 1) - 6 * u(i, j, k)) &
            + 0.01d0 * (1 - u(i, j, k) / (1 + u(i, j, k) * u(i, j, k)))
        end do
      end do
    end do
  end subroutine right_hand_side

  subroutine solve_x()
    integer :: j, k
    do k = 1, layers
      do j = 1, size
        call solve(change(:, j, k), factor(:, j, k))
      end do
    end do
  end subroutine solve_x

  subroutine solve_y()
    integer :: i, k
    do k = 1, layers
      do i = 1, size
        call solve(change(i, :, k), factor(i, :, k))
      end do
    end do
  end subroutine solve_y

  subroutine solve(line, share) ! a whole line
    real(real64), intent(inout) :: line(:), share(:)
    real(real64) :: last(2)
    last = 0
    call forwards(line, share, last(1), last(2))
    last = 0
    call backwards(line, share, last(2))
  end subroutine solve

  subroutine forwards(line, share, last_share, last) ! each point needs the one before it
    real(real64), intent(inout) :: line(:), share(:), last_share, last
    real(real64) :: pivot
    integer :: n
    do n = 1, ubound(line, 1)
      pivot = middle - side * last_share + bend * sqrt(1 + last * last)
      last = (line(n) - side * last) / pivot
      last_share = side / pivot
      line(n) = last
      share(n) = last_share
    end do
  end subroutine forwards

  subroutine backwards(line, share, last)
    real(real64), intent(inout) :: line(:), last
    real(real64), intent(in) :: share(:)
    integer :: n
    do n = ubound(line, 1), 1, -1
      last = line(n) - share(n) * last
      line(n) = last
    end do
  end subroutine backwards

  subroutine solve_z() ! up through all ranks, and down again
    integer :: block, first, last, i, j, count, request
    request = MPI_REQUEST_NULL
    do block = 1, blocks
      first = size * (block - 1) / blocks + 1
      last = size * block / blocks
      count = 2 * size * (last - first + 1)
      edge(:, first:last, 1:2) = 0
      call receive(below, count)
      do j = first, last
        do i = 1, size
          call forwards(change(i, j, :), factor(i, j, :), edge(i, j, 1), edge(i, j, 2))
        end do
      end do
      call send(above, count)
    end do
    do block = 1, blocks
      first = size * (block - 1) / blocks + 1
      last = size * block / blocks
      count = 2 * size * (last - first + 1)
      edge(:, first:last, 2) = 0
      call receive(above, count)
      do j = first, last
        do i = 1, size
          call backwards(change(i, j, :), factor(i, j, :), edge(i, j, 2))
        end do
      end do
      call send(below, count)
    end do
    call MPI_Wait(request, MPI_STATUS_IGNORE, error)
  contains
    subroutine receive(from, count)
      integer, intent(in) :: from, count
      real(real64), allocatable, save, asynchronous :: values(:)
      integer :: arrival
      if (.not. allocated(values)) allocate (values(2 * size * size))
      if (from == MPI_PROC_NULL) return
      call MPI_Irecv(values, count, MPI_DOUBLE_PRECISION, from, 3, MPI_COMM_WORLD, arrival, error)
      call MPI_Wait(arrival, MPI_STATUS_IGNORE, error)
      edge(:, first:last, 1:2) = reshape(values(:count), [size, last - first + 1, 2])
    end subroutine receive

    subroutine send(to, count)
      integer, intent(in) :: to, count
      real(real64), allocatable, save, asynchronous :: values(:)
      if (.not. allocated(values)) allocate (values(2 * size * size))
      if (to == MPI_PROC_NULL) return
      call MPI_Wait(request, MPI_STATUS_IGNORE, error)
      values(:count) = reshape(edge(:, first:last, 1:2), [count])
      call MPI_Isend(values, count, MPI_DOUBLE_PRECISION, to, 3, MPI_COMM_WORLD, request, error)
    end subroutine send
  end subroutine solve_z
end module box

program sweeps
  use box
  implicit none
  integer :: step, steps, k
  real(real64) :: part, total
  call MPI_Init(error)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, error)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks, error)
  size = word(1, 128)
  steps = word(2, 600)
  layers = size * (rank + 1) / ranks - size * rank / ranks
  below = merge(rank - 1, MPI_PROC_NULL, rank > 0)
  above = merge(rank + 1, MPI_PROC_NULL, rank < ranks - 1)
  allocate (u(size, size, 0:layers + 1), change(size, size, layers), factor(size, size, layers), edge(size, size, 2))
  do k = 0, layers + 1
    u(:, :, k) = 1 + 0.01d0 * mod(k, 7)
  end do
  total = 0
  do step = 1, steps
    call exchange_faces()
    call right_hand_side()
    call solve_x()
    call solve_y()
    call solve_z()
    u(:, :, 1:layers) = u(:, :, 1:layers) + change
    if (mod(step, checked) == 0) then
      part = sum(u(:, :, 1:layers))
      call MPI_Reduce(part, total, 1, MPI_DOUBLE_PRECISION, MPI_SUM, 0, MPI_COMM_WORLD, error)
    end if
  end do
  part = sum(u(:, :, 1:layers))
  call MPI_Reduce(part, total, 1, MPI_DOUBLE_PRECISION, MPI_SUM, 0, MPI_COMM_WORLD, error)
  if (rank == 0) print '(a, es18.10)', 'checksum', total
  call MPI_Finalize(error)
end program sweeps
