-- Remove documents with the next commit. ARGV: after those of turn.lua the ids, 8 bytes of hash before each. Gives
-- how many were held.
local id_once, count, places = floor_power(id_shards), 0, {}
for argument = 4, #ARGV do
  places[#places + 1] = shard_of(unpack_number('<I4', ARGV[argument]), id_shards, id_once)
end
for from = 1, #places, AT_ONCE do
  local some = {unpack(places, from, math.min(from + AT_ONCE - 1, #places))}
  local texts = read('i', some, true)
  for i = 1, #some do
    local field = ARGV[from + i + 2]
    local mine = holder(texts[i] or '', sub(field, 1, 8), sub(field, 9))
    if mine then
      drop(mine)
      count = count + 1
    end
  end
end
call('HSET', KEYS[1], 'staged', staged)
return done(count)
