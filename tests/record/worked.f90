! Work that is arithmetic, of which the second rank has too much.
module work
  implicit none
  real(8), volatile :: result_
contains
  subroutine compute(units)
    real(8), intent(in) :: units
    real(8) :: total, begin, now
    integer :: i
    total = 0
    call cpu_time(begin)
    do
      do i = 1, 20000
        total = total * 0.999d0 + 1 / real(i, 8) ! in compute
      end do
      call cpu_time(now)
      if (now - begin > units * 0.004d0) exit
    end do
    result_ = total
  end subroutine compute

  subroutine smooth(units)
    real(8), intent(in) :: units
    real(8) :: total, begin, now
    integer :: i
    total = 1
    call cpu_time(begin)
    do
      do i = 1, 20000
        total = total * 0.999d0 + 1 / real(i + 1, 8)
      end do
      call cpu_time(now)
      if (now - begin > units * 0.004d0) exit
    end do
    result_ = total
  end subroutine smooth
end module work

program worked
  use mpi
  use work
  implicit none
  integer :: rank, step, error
  call MPI_Init(error)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, error)
  do step = 1, 20
    call smooth(2d0)
    call compute(merge(6d0, 1d0, rank == 1))
    call MPI_Barrier(MPI_COMM_WORLD, error)
  end do
  call MPI_Finalize(error)
end program worked
