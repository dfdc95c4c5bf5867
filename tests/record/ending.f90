! ending.f90 -- As ending.c, in Fortran: a receive and a large send are pending. ending FILE
program ending
  use mpi
  implicit none
  integer, parameter :: large = 2097152
  integer :: rank, size, error, step, next, before, requests(2), pair(2)
  double precision, allocatable :: buffer(:)
  double precision :: sent, received, total, never
  character(len=4096) :: path
  character(len=16) :: number

  call MPI_Init(error)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, error)
  call MPI_Comm_size(MPI_COMM_WORLD, size, error)
  next = mod(rank + 1, size)
  before = mod(rank + size - 1, size)
  call get_command_argument(1, path)
  write (number, '(I0)') rank
  open (unit=17, file=trim(path)//'.'//trim(number), status='replace')
  write (6, '(A,I0,A)') 'rank ', rank, ' begins'
  write (17, '(A,I0,A)') 'rank ', rank, ' begins'
  allocate (buffer(large))
  buffer = 0
  call MPI_Irecv(never, 1, MPI_DOUBLE_PRECISION, MPI_ANY_SOURCE, 99, MPI_COMM_WORLD, requests(1), error)
  call MPI_Isend(buffer, large, MPI_DOUBLE_PRECISION, next, 95, MPI_COMM_WORLD, requests(2), error)
  sent = rank
  do step = 1, 100000000
    call MPI_Irecv(received, 1, MPI_DOUBLE_PRECISION, before, 1, MPI_COMM_WORLD, pair(1), error)
    call MPI_Isend(sent, 1, MPI_DOUBLE_PRECISION, next, 1, MPI_COMM_WORLD, pair(2), error)
    call MPI_Waitall(2, pair, MPI_STATUSES_IGNORE, error)
    call MPI_Allreduce(received, total, 1, MPI_DOUBLE_PRECISION, MPI_SUM, MPI_COMM_WORLD, error)
  end do
  write (6, '(A,I0,A)') 'rank ', rank, ' ends'
  call MPI_Finalize(error)
end program ending
