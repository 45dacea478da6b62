-- Objects, closures, tables, strings, sorting, coroutines: what scripts do. For Lua 5.1 and later.
local state = 12345
local function draw(n)
  state = (state * 16807) % 2147483647
  return state % n + 1
end

local Point = {}
Point.__index = Point
Point.__add = function(a, b) return setmetatable({x = a.x + b.x, y = a.y + b.y}, Point) end
Point.__eq = function(a, b) return a.x == b.x and a.y == b.y end
function Point.new(x, y) return setmetatable({x = x, y = y}, Point) end
function Point:length() return (self.x * self.x + self.y * self.y) ^ 0.5 end

local function objects(n)
  local sum = Point.new(0, 0)
  for i = 1, n do
    local one = Point.new(i % 7, draw(5))
    sum = sum + one
    if one == sum then sum.x = sum.x + 1 end
    if one:length() > 6 and not (i % 3 == 0) then sum.y = sum.y - 1 end
  end
  return math.floor(sum.x * 31 + sum.y)
end

local function closures(n)
  local function counter(step)
    local count = 0
    return function(...) count = count + step + select("#", ...); return count end
  end
  local all = {counter(1), counter(2), counter(3)}
  local total = 0
  for i = 1, n do total = total + all[i % 3 + 1](i, i) % 11 end
  return total
end

local function strings(n)
  local words = {}
  for i = 1, n do
    local word = string.char(96 + draw(26), 96 + draw(26), 96 + draw(26)) .. i % 97
    words[#words + 1] = word
  end
  table.sort(words)
  local text = table.concat(words, " ")
  local found = 0
  for a, b in string.gmatch(text, "(%a+)(%d+)") do
    if a < "mm" and tonumber(b) > 50 then found = found + 1 end
  end
  text = string.gsub(text, "[aeiou]", {a = "1", e = "2"})
  return found + #text + #string.format("%5.2f|%d|%s", found / 3, found, words[1])
end

local function sieve(n)
  local composite, count = {}, 0
  for i = 2, n do
    if not composite[i] then
      count = count + 1
      for j = i * i, n, i do composite[j] = true end
    end
  end
  return count
end

local function generators(n)
  local function walk(depth)
    if depth > 0 then
      walk(depth - 1)
      coroutine.yield(depth)
      walk(depth - 1)
    end
  end
  local sum = 0
  for depth in coroutine.wrap(function() walk(n) end) do sum = sum + depth end
  return sum
end

local total = 0
for round = 1, 6 do
  total = total + objects(20000) + closures(60000) + strings(6000) + sieve(40000) + generators(12)
end
print(total)
