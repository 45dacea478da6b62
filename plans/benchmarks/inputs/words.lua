-- Counts, sorts and rewrites words that it makes itself: strings, tables, garbage collection.
local rounds = tonumber(arg[1])
local state = 12345
local function draw(n)
  state = (state * 1103515245 + 12345) % 2147483648
  return (state >> 8) % n + 1
end

local sounds = {"ba", "co", "di", "fe", "gu", "ha", "ki", "lo", "mu", "ne", "pa", "ro"}
local checksum = 0
for round = 1, rounds do
  local count, words = {}, {}
  for i = 1, 20000 do
    local word = sounds[draw(12)] .. sounds[draw(12)] .. sounds[draw(12)]
    count[word] = (count[word] or 0) + 1
    words[i] = word
  end
  local unique = {}
  for word in pairs(count) do unique[#unique + 1] = word end
  table.sort(unique, function(a, b)
    if count[a] ~= count[b] then return count[a] > count[b] end
    return a < b
  end)
  local text = table.concat(words, " "):gsub("(%a)o", "%1u"):upper()
  for at in text:gmatch("RU()") do checksum = (checksum * 31 + at) % 1000000007 end
  checksum = (checksum + #unique + #unique[1] * count[unique[1]]) % 1000000007
end
print(checksum)
