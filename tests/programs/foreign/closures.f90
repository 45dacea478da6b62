! Deferred procedures, an internal procedure that is passed on and called down a recursion, a select, matrices, and text by format.
module shapes
  implicit none
  type, abstract :: shape
  contains
    procedure(area_i), deferred :: area
  end type
  abstract interface
    function area_i(self) result(r)
      import :: shape
      class(shape), intent(in) :: self
      integer(8) :: r
    end function
  end interface
  type, extends(shape) :: sq
    integer(8) :: s
  contains
    procedure :: area => sq_area
  end type
  type, extends(shape) :: re
    integer(8) :: a, b
  contains
    procedure :: area => re_area
  end type
contains
  function sq_area(self) result(r)
    class(sq), intent(in) :: self
    integer(8) :: r
    r = self%s * self%s
  end function
  function re_area(self) result(r)
    class(re), intent(in) :: self
    integer(8) :: r
    r = self%a * self%b
  end function
  recursive function apply(f, n) result(r)
    interface
      function f(x) result(y)
        integer(8), intent(in) :: x
        integer(8) :: y
      end function
    end interface
    integer, intent(in) :: n
    integer(8) :: r
    if (n == 0) then
      r = f(1_8)
    else
      r = iand(apply(f, n - 1) * 31 + f(int(n, 8)), 1073741823_8)
    end if
  end function
  function pick(op, x) result(r)
    integer, intent(in) :: op
    integer(8), intent(in) :: x
    integer(8) :: r
    select case (op)
    case (0); r = x + 1
    case (1); r = ieor(x, 99_8)
    case (2); r = x * 3
    case (3); r = x / 2
    case (4); r = not(x)
    case (5); r = x - 7
    case (6); r = ishft(x, -3)
    case default; r = 5
    end select
    r = iand(r, 1073741823_8)
  end function
end module
program main
  use shapes
  implicit none
  integer(8) :: total, base
  integer :: i
  class(shape), allocatable :: s
  real(8), allocatable :: m(:, :), v(:)
  character(len=40) :: text
  total = 0
  allocate(m(20, 20), v(20))
  do i = 1, 200000
    base = i
    total = iand(total * 31 + apply(closure, 20), 1073741823_8)
    total = pick(mod(i, 9), total)
    if (mod(i, 2) == 0) then
      allocate(s, source=sq(int(i, 8)))
    else
      allocate(s, source=re(int(i, 8), 3_8))
    end if
    total = iand(total + s%area(), 1073741823_8)
    deallocate(s)
    if (mod(i, 50) == 0) then
      m = real(i, 8); v = 1d0; v = matmul(m, v)
      write (text, '(i0,a,f8.1)') i, ' x ', v(1)
      total = total + ichar(text(5:5))
    end if
  end do
  print '(i0)', total
contains
  function closure(x) result(y)
    integer(8), intent(in) :: x
    integer(8) :: y
    y = x * base + 1
  end function
end program
