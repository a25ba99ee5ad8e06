-- Add documents, which nobody else sees before the commit. ARGV: after those of turn.lua for how many shards of
-- postings and of ids the client has grouped them, the first number; pairs (shard, count) and numbers of ids in that
-- order; the same of postings, or nothing, when they come later; when they were seen; the records.
if shards ~= tonumber(ARGV[4]) or id_shards ~= tonumber(ARGV[5]) or next_number ~= tonumber(ARGV[6]) then
  return {2}
end
if call('HGET', KEYS[1], 'full') ~= '0' then return {6} end
local RECORDS = 12

-- Each id takes the place of the document that had it.
file('i', ARGV[7], ARGV[8], function(text, fresh)
  for place = 1, #fresh, POSTING do
    local key = sub(fresh, place, place + 7)
    if find(text, key, 1, true) then
      local record = ARGV[RECORDS + unpack_number('<I4', fresh, place + 8) - next_number]
      local mine, gone = holder(text, key, sub(record, 9, 8 + unpack_number('<I4', record, 5)))
      if mine then drop(mine) end
      if gone then
        local kept = {}
        for at = 1, #text, POSTING do
          if not gone[unpack_number('<I4', text, at + 8)] then kept[#kept + 1] = sub(text, at, at + POSTING - 1) end
        end
        state.i[2] = state.i[2] - (#text / POSTING - #kept)
        text = table.concat(kept)
      end
    end
  end
  return text
end)

local added = #ARGV - RECORDS + 1
if added > 0 then arrive(next_number, ARGV[11]) end
if ttl > 0 and added > 0 then
  local last = call('ZREVRANGE', base .. 'e', 0, 0, 'WITHSCORES')
  local expires = math.max(now() + 1 + ttl, last[2] and tonumber(last[2]) or 0)
  for i = 0, added - 1 do
    call('SET', base .. 'd' .. (next_number + i), pack('<I4', expires) .. ARGV[RECORDS + i], 'EXAT', expires + 60)
  end
  call('ZREMRANGEBYSCORE', base .. 'e', expires, expires)
  call('ZADD', base .. 'e', expires, next_number + added)
  call('HINCRBY', base .. 's', expires, added)
else
  local records = {}
  for i = 0, added - 1 do
    records[#records + 1] = base .. 'd' .. (next_number + i)
    records[#records + 1] = ARGV[RECORDS + i]
  end
  write(records, {})
end
next_number, staged = next_number + added, staged + added
call('HSET', KEYS[1], 'next', next_number, 'staged', staged)
file('p', ARGV[9], ARGV[10])
grow('i', 1000)
local left = grow('p', 1000)
shards, id_shards = unpack(call('HMGET', KEYS[1], 'shards', 'id_shards'))
return done(left)
