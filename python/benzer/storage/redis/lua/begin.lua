-- Take the lease and begin a transaction. ARGV: token, number of the change, lease in ms, grace in seconds.
-- What a writer that died has left is forgotten: its documents (from `published` to `next`) are for orphans.lua.
local m = call('HMGET', KEYS[1], 'format', 'owner', 'seq', 'published', 'next', 'generation', 'shards', 'id_shards',
               'made')
if not m[1] then return {1} end
if (m[9] or '') ~= made then return {7} end
local last = m[2] == ARGV[1] and m[3] or call('GET', base .. 'k' .. ARGV[1])
if last and tonumber(last) > tonumber(ARGV[2]) then return {2} end -- a message that was long on its way
local holder = call('GET', base .. 'l')
if holder and holder ~= ARGV[1] then return {4, call('PTTL', base .. 'l')} end
call('SET', base .. 'l', ARGV[1], 'PX', ARGV[3])
call('HSET', KEYS[1], 'owner', ARGV[1], 'seq', ARGV[2], 'count', 0, 'staged', 0)
call('DEL', base .. 's', base .. 'u')
if call('HEXISTS', KEYS[1], 'timed') == 0 then call('DEL', base .. 'f') end
call('ZREMRANGEBYSCORE', base .. 'x', tonumber(m[6]) + 1, '+inf')
local ready, limit = 0, now() - tonumber(ARGV[4])
for _, entry in ipairs(call('LRANGE', base .. 'h', 0, 100)) do
  local committed, time = string.match(entry, '(%d+) (%d+)')
  if tonumber(time) > limit then break end
  ready = tonumber(committed)
end
return {0, tonumber(m[5]), tonumber(m[7]), tonumber(m[8]), ready, tonumber(m[4]), tonumber(m[6])}
