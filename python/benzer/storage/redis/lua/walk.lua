-- The next documents by number. ARGV: after those of view.lua the first number, the end, and how many at most.
-- Gives where to go on, the numbers, and the records.
local code = look()
if code > 0 then return {code} end
local first = math.max(tonumber(ARGV[5]), view.E, tonumber(call('HGET', KEYS[1], 'low')))
local limit, stop = tonumber(ARGV[7]), math.min(tonumber(ARGV[6]), view.P)
local numbers, records, budget, looks = {}, {}, 2 ^ 22, 0
while first < stop and #numbers < limit and budget > 0 and looks < 100 do
  local some = {}
  for number = first, math.min(first + math.min(200, limit - #numbers), stop) - 1 do some[#some + 1] = number end
  local kept = held(some)
  local found, done = records_of(kept, budget)
  first = done < #kept and kept[done + 1] or some[#some] + 1
  for i = 1, done do
    if found[i] then -- not a number that was purged
      numbers[#numbers + 1], records[#records + 1] = kept[i], found[i]
      budget = budget - #found[i]
    end
  end
  looks = looks + 1
end
return {0, view.P, view.G, view.E, view.documents, first, packed(numbers), records}
