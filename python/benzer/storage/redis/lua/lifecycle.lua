--! create: shared
-- Make an index unless there is one. ARGV: settings, ttl, format, mark. Gives the format, settings, ttl and mark
-- that hold.
local held = call('HMGET', KEYS[1], 'format', 'settings', 'ttl', 'made')
if held[1] then return {0, held[1], held[2], held[3], held[4] or ''} end
if call('EXISTS', KEYS[1]) == 1 then return {0, '', '', '', ''} end
if ARGV[1] == '' and ARGV[3] == '' then return {1} end
call('HSET', KEYS[1], 'format', ARGV[3], 'settings', ARGV[1], 'ttl', ARGV[2], 'next', 0, 'published', 0,
     'generation', 0, 'documents', 0, 'postings', 0, 'ids', 0, 'shards', 1, 'id_shards', 1, 'owner', '', 'seq', 0,
     'count', 0, 'staged', 0, 'low', 0, 'floor', 0, 'expired', 0, 'expired_dead', 0, 'rewrites', 0, 'full', 0,
     'made', ARGV[4])
return {0, ARGV[3], ARGV[1], ARGV[2], ARGV[4]}

--! begin: shared
-- Take the lease and begin a transaction. ARGV: token, number of the change, lease in ms, grace in seconds.
-- What a writer that died has left is forgotten: its documents (from `published` to `next`) are for `forget`.
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

--! renew: shared
-- Keep the lease while the writer is busy elsewhere. ARGV: token, lease in ms. Gives the number of commits.
local m = call('HMGET', KEYS[1], 'owner', 'made')
if m[1] and (m[2] or '') ~= made then return {7} end
if m[1] ~= ARGV[1] then return {2} end
call('SET', base .. 'l', ARGV[1], 'PX', ARGV[2])
return {0, tonumber(call('HGET', KEYS[1], 'generation'))}

--! discard: shared
-- Delete an index to which nothing was ever committed and that nobody writes, by a portion. Gives 1 while more is left.
local m = call('HMGET', KEYS[1], 'made', 'generation', 'published', 'next', 'shards', 'id_shards')
if not m[2] or (m[1] or '') ~= made then return {0, 0} end
local holder = call('GET', base .. 'l')
if m[2] ~= '0' or m[3] ~= m[4] or (holder and holder ~= 'discard') then return {0, 0} end
call('SET', base .. 'l', 'discard', 'PX', 10000) -- until all portions are gone
local left = 5000
for i, kind in ipairs({'p', 'i'}) do
  local count = tonumber(m[i + 4])
  while count > 0 and left > 0 do
    local names = {}
    for shard = count - 1, math.max(0, count - AT_ONCE), -1 do names[#names + 1] = base .. kind .. shard end
    call('UNLINK', unpack(names))
    count, left = count - #names, left - #names
  end
  call('HSET', KEYS[1], kind == 'p' and 'shards' or 'id_shards', math.max(1, count))
  if count > 0 then return {0, 1} end
end
for _, letter in ipairs({'n', 'x', 'h', 'e', 'c', 's', 'f', 't', 'u', 'l', 'm'}) do call('UNLINK', base .. letter) end
return {0, 0}
