-- Calls: Fibonacci and Ackermann by the book, and Hanoi with the moves counted.
local function fib(n)
  if n < 2 then return n end
  return fib(n - 1) + fib(n - 2)
end

local function ackermann(m, n)
  if m == 0 then return n + 1 end
  if n == 0 then return ackermann(m - 1, 1) end
  return ackermann(m - 1, ackermann(m, n - 1))
end

local moves = 0
local function hanoi(disks, from, over, to)
  if disks == 0 then return end
  hanoi(disks - 1, from, to, over)
  moves = moves + 1
  hanoi(disks - 1, over, from, to)
end

hanoi(20, "a", "b", "c")
print(fib(34), ackermann(2, 300), ackermann(3, 8), moves)
