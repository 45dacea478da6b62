-- Loops: the Mandelbrot set on a grid and a sieve, no calls and hardly any allocation.
local inside = 0
for row = 0, 259 do
  for column = 0, 479 do
    local cr, ci, r, i = column / 240 - 1.5, row / 130 - 1, 0.0, 0.0
    local n = 0
    while n < 150 and r * r + i * i < 4 do
      r, i = r * r - i * i + cr, 2 * r * i + ci
      n = n + 1
    end
    if n == 150 then inside = inside + 1 end
  end
end

local limit, primes, composite = 1200000, 0, {}
for i = 1, limit do composite[i] = false end
for i = 2, limit do
  if not composite[i] then
    primes = primes + 1
    for j = i * i, limit, i do composite[j] = true end
  end
end
print(inside, primes)
