-- Note with the next commit when documents were seen. ARGV: after those of turn.lua for each document 8 bytes of hash
-- and its id, and the second; the latest second. Where no time is known yet, all others count as seen then. Gives how
-- many are held.
local id_once, count, places = floor_power(id_shards), 0, {}
for argument = 4, #ARGV - 1, 2 do
  places[#places + 1] = shard_of(unpack_number('<I4', ARGV[argument]), id_shards, id_once)
end
for from = 1, #places, AT_ONCE do
  local some = {unpack(places, from, math.min(from + AT_ONCE - 1, #places))}
  local texts = read('i', some, true)
  for i = 1, #some do
    local argument = 2 + 2 * (from + i - 1)
    local mine = holder(texts[i] or '', sub(ARGV[argument], 1, 8), sub(ARGV[argument], 9))
    if mine then
      call('ZADD', base .. 'u', 'GT', ARGV[argument + 1], mine)
      count = count + 1
    end
  end
end
if count > 0 and call('EXISTS', base .. 'f') == 0 then arrive(0, ARGV[#ARGV]) end
return done(count)
