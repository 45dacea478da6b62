-- Allocation: words put together, counted in tables, sorted and joined again.
local state = 42
local function draw(n)
  state = (state * 1103515245 + 12345) % 2147483648
  return (state >> 8) % n + 1
end

local sounds = {"ba", "co", "di", "fe", "gu", "ha", "ki", "lo", "mu", "ne", "pa", "ro"}
local sum = 0
for _ = 1, 45 do
  local count, list = {}, {}
  for i = 1, 6000 do
    local word = sounds[draw(12)] .. sounds[draw(12)] .. sounds[draw(12)]
    count[word] = (count[word] or 0) + 1
    list[i] = {word = word, at = i}
  end
  table.sort(list, function(a, b)
    if a.word ~= b.word then return a.word < b.word end
    return a.at < b.at
  end)
  local parts = {}
  for i, entry in ipairs(list) do parts[i] = entry.word .. count[entry.word] end
  sum = (sum * 31 + #table.concat(parts, " "):gsub("ba", "bab")) % 1000000007
end
print(sum)
