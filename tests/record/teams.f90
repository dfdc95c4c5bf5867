! Two parallel regions in each of 15 steps: a loop, and a critical section with a barrier and a single.
program p
  use mpi
  implicit none
  integer :: e, i, k, r
  double precision :: s
  call MPI_Init(e)
  call MPI_Comm_rank(MPI_COMM_WORLD, r, e)
  s = 0
  do i = 1, 15
    !$omp parallel do schedule(dynamic,4) reduction(+:s) num_threads(2)
    do k = 1, 100000
      s = s + sqrt(dble(k))
    end do
    !$omp end parallel do
    !$omp parallel num_threads(2)
    !$omp critical
    s = s + 1
    !$omp end critical
    !$omp barrier
    !$omp single
    s = s + 1
    !$omp end single
    !$omp end parallel
    call MPI_Barrier(MPI_COMM_WORLD, e)
  end do
  call MPI_Finalize(e)
  if (s < 0) print *, s
end program
