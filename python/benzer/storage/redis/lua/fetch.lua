-- The records of the documents ARGV[5] (4 bytes each): as many as fit a reply, false for one that is not held.
local code = look()
if code > 0 then return {code} end
local numbers = unpacked(ARGV[5])
local inside = held(numbers)
local records, looked = records_of(inside, 2 ^ 22)
local found = {}
for i = 1, looked do found[inside[i]] = records[i] end
local answer, last = {}, inside[looked + 1]
for i = 1, #numbers do
  if numbers[i] == last then break end
  answer[i] = found[numbers[i]] or false
end
return {0, view.P, view.G, view.E, view.documents, answer}
