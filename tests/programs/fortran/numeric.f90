! Modules, array expressions and temporaries, allocatables, recursion, complex numbers, formatted output.
module numeric
  implicit none
  type :: body
    real(8) :: position(3), velocity(3), mass
  end type
contains
  recursive integer function fibonacci(n) result(value)
    integer, intent(in) :: n
    if (n < 2) then
      value = n
    else
      value = fibonacci(n - 1) + fibonacci(n - 2)
    end if
  end function

  pure function cross(a, b) result(c)
    real(8), intent(in) :: a(3), b(3)
    real(8) :: c(3)
    c = [a(2) * b(3) - a(3) * b(2), a(3) * b(1) - a(1) * b(3), a(1) * b(2) - a(2) * b(1)]
  end function

  subroutine advance(bodies, dt)
    type(body), intent(inout) :: bodies(:)
    real(8), intent(in) :: dt
    real(8) :: force(3, size(bodies)), d(3)   ! automatic: its size is known at run time
    integer :: i, j
    force = 0
    do i = 1, size(bodies)
      do j = 1, size(bodies)
        if (i == j) cycle
        d = bodies(j)%position - bodies(i)%position
        force(:, i) = force(:, i) + d * bodies(j)%mass / (sum(d * d) + 0.01d0)**1.5d0
      end do
    end do
    do i = 1, size(bodies)
      bodies(i)%velocity = bodies(i)%velocity + dt * force(:, i)
      bodies(i)%position = bodies(i)%position + dt * bodies(i)%velocity
    end do
  end subroutine

  complex(8) function determinant(matrix)
    complex(8), intent(in) :: matrix(:, :)
    complex(8), allocatable :: work(:, :)
    integer :: k, i, n
    n = size(matrix, 1)
    allocate(work, source=matrix)
    determinant = 1
    do k = 1, n
      determinant = determinant * work(k, k)
      do i = k + 1, n
        work(i, k:) = work(i, k:) - work(k, k:) * (work(i, k) / work(k, k))
      end do
    end do
  end function
end module

program main
  use numeric
  implicit none
  integer(8) :: start, now, rate
  real(8) :: momentum(3), first(3)
  complex(8) :: value, first_value
  call system_clock(start, rate)
  call work(first, first_value)
  do   ! the same again for about 60 epochs of 1 ms
    call work(momentum, value)
    if (any(momentum /= first) .or. value /= first_value) stop 1
    call system_clock(now)
    if (now - start >= rate * 6 / 100) exit
  end do
  call tell(momentum, value)
contains
  subroutine work(momentum, value)
    real(8), intent(out) :: momentum(3)
    complex(8), intent(out) :: value
    type(body) :: bodies(40)
    complex(8) :: matrix(24, 24)
    integer :: i, j, step
    do i = 1, 40
      bodies(i)%position = [cos(0.3d0 * i), sin(0.7d0 * i), 0.1d0 * mod(i, 7)]
      bodies(i)%velocity = 0
      bodies(i)%mass = 1d0 / i
    end do
    do step = 1, 20
      call advance(bodies, 1d-2)
    end do
    momentum = 0
    do i = 1, 40
      momentum = momentum + cross(bodies(i)%position, bodies(i)%velocity) * bodies(i)%mass
    end do
    do j = 1, 24
      do i = 1, 24
        matrix(i, j) = cmplx(1d0 / (i + j), 0.1d0 * mod(i * j, 5), 8)
      end do
      matrix(j, j) = matrix(j, j) + 3
    end do
    value = determinant(matrix)
  end subroutine

  subroutine tell(momentum, value)
    real(8), intent(in) :: momentum(3)
    complex(8), intent(in) :: value
    character(len=32) :: line
    write (line, '(i8.8, a)') fibonacci(16), ' calls'
    print '(3es24.15)', momentum
    print '(2es24.15)', value
    print '(a)', trim(line)
  end subroutine
end program
