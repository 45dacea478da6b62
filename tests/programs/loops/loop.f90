! A program that is one loop of its main procedure.
program one_loop
  implicit none
  integer(kind=8) :: i, k
  real(kind=8) :: a(64), s
  do k = 1, 64
    a(k) = k
  end do
  s = 0
  do i = 1, 3000000
    do k = 2, 63
      a(k) = (a(k - 1) + a(k) + a(k + 1)) / 3.0d0
    end do
    a(1 + mod(i, 64_8)) = mod(i, 1000_8)
    s = s + a(32)
  end do
  print '(z16.16)', transfer(s, 1_8)
end program one_loop
