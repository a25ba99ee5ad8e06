-- The numbers of the documents with the ids ARGV[5..], 8 bytes of hash before each. Gives 8 bytes for each, a
-- floating-point number, -1 for none.
local code = look()
if code > 0 then return {code} end
local id_once, places, answer = floor_power(view.id_shards), {}, {}
for argument = 5, #ARGV do
  places[#places + 1] = shard_of(unpack_number('<I4', ARGV[argument]), view.id_shards, id_once)
end
for from = 1, #places, AT_ONCE do
  local some = {unpack(places, from, math.min(from + AT_ONCE - 1, #places))}
  local texts = read('i', some, true)
  for i = 1, #some do
    local field, number = ARGV[from + i + 3], -1
    local filed = {}
    search(texts[i] or '', sub(field, 1, 8), function(found) filed[#filed + 1] = (unpack_number('<I4', found)) end)
    if #filed > 0 then
      filed = held(filed)
      local id, start = sub(field, 9), view.ttl > 0 and 8 or 4
      for j = 1, #filed do
        local head = call('GETRANGE', base .. 'd' .. filed[j], start, start + 3 + #id)
        if head == pack('<I4', #id) .. id then number = filed[j] end
      end
    end
    answer[#answer + 1] = pack('<d', number)
  end
end
return {0, view.P, view.G, view.E, view.documents, table.concat(answer)}
