-- Which documents share a key? ARGV: after those of view.lua the keys (8 bytes each, distinct), and how many
-- records at most are handed out together with the numbers; "1" when it does not matter which key a number was found
-- under. Gives the places of the keys and the numbers found under them, the numbers, records; long shards are handed out as they are, for the client to search.
local code = look()
if code > 0 then return {code} end
local keys, limit = ARGV[5], tonumber(ARGV[6])
local matches, numbers, seen, long, budget = {}, {}, {}, {}, 2 ^ 20
local asked, told = {}, {}
for at = 1, #keys, 8 do
  asked[#asked + 1] = shard_of(unpack_number('<I4', keys, at), view.shards, view.once)
end
for from = 0, #asked - 1, AT_ONCE do
  local some = {unpack(asked, from + 1, math.min(from + AT_ONCE, #asked))}
  local texts = read('p', some)
  for i = 1, #some do
    local text, place = texts[i], from + i - 1
    local key = sub(keys, place * 8 + 1, place * 8 + 8)
    if text and find(text, key, 1, true) then
      search(text, key, function(number)
        if ARGV[7] ~= '1' then matches[#matches + 1] = pack('<I4', place) .. number end
        if not seen[number] then
          seen[number] = true
          numbers[#numbers + 1] = (unpack_number('<I4', number))
        end
      end)
    elseif text == nil and not told[some[i]] then
      told[some[i]] = true
      local name = base .. 'p' .. some[i]
      local piece = budget > 0 and call('GETRANGE', name, 0, 87381 * POSTING - 1) or ''
      budget = budget - #piece
      long[#long + 1] = {some[i], call('STRLEN', name), piece}
    end
  end
end
numbers = held(numbers)
local records = {}
if #long == 0 and #numbers > 0 and #numbers <= limit then
  local done
  records, done = records_of(numbers, 2 ^ 20)
  if done < #numbers then records = {} end
end
return {0, view.P, view.G, view.E, view.documents, view.rewrites, table.concat(matches), packed(numbers), records, long}
