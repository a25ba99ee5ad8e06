-- End a purge: no shard names a deleted document any more, none lives below the number ARGV[4]. Where the collection
-- has shrunk, shards are joined again: a portion of ARGV[5]; gives 1 while more are to be.
call('ZREMRANGEBYSCORE', base .. 'x', 0, 0)
call('HSET', KEYS[1], 'expired_dead', 0, 'low', ARGV[4], 'full', 0)
local mark = call('ZREVRANGEBYSCORE', base .. 'f', ARGV[4], 0, 'WITHSCORES', 'LIMIT', 0, 1)[2]
if mark then call('ZREMRANGEBYSCORE', base .. 'f', '-inf', '(' .. mark) end
if ttl > 0 then -- the times of what has expired; a document may be younger than the time it was last seen at
  local old = call('ZRANGEBYSCORE', base .. 't', '-inf', now() - ttl - 61)
  for i = 1, #old do
    if tonumber(old[i]) < tonumber(ARGV[4]) then call('ZREM', base .. 't', old[i]) end
  end
end
local left = 0
for kind, known in pairs(state) do
  local _, count, shards_name, total = unpack(known)
  local before = total
  while total > 1 and total * LOAD > 3 * count and before - total < tonumber(ARGV[5]) do
    total = total - 1
    local into = total - floor_power(total)
    local texts, long = read(kind, {into, total}, true)
    if texts[2] then
      local text = (texts[1] or '') .. texts[2]
      note(kind, into, long[1], #text >= LONG)
      note(kind, total, long[2], false)
      write({base .. kind .. into, text}, {base .. kind .. total})
    end
  end
  call('HSET', KEYS[1], shards_name, total)
  if total < before then call('HINCRBY', KEYS[1], 'rewrites', 1) end
  if total > 1 and total * LOAD > 3 * count then left = 1 end
end
shards, id_shards = unpack(call('HMGET', KEYS[1], 'shards', 'id_shards'))
return done(left)
