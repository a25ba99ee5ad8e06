-- Whose turn is it? Every change carries the writer's token ARGV[1], the number of the change ARGV[2] and the
-- milliseconds of the lease ARGV[3]. A change that is sent twice, because its reply was lost, is done once.
local m = call('HMGET', KEYS[1], 'format', 'owner', 'seq', 'published', 'generation', 'next', 'shards', 'id_shards',
               'postings', 'ids', 'ttl', 'expired', 'count', 'staged', 'documents', 'made')
if not m[1] then return {1} end
if (m[16] or '') ~= made then return {7} end
local owner, seq = ARGV[1], tonumber(ARGV[2])
local published, generation, next_number = tonumber(m[4]), tonumber(m[5]), tonumber(m[6])
local shards, id_shards = tonumber(m[7]), tonumber(m[8])
local postings, ids, ttl = tonumber(m[9]), tonumber(m[10]), tonumber(m[11])
local expired, staged = tonumber(m[12]), tonumber(m[14])
if m[2] ~= owner then
  if call('GET', base .. 'k' .. owner) == ARGV[2] then return {0, next_number, shards, id_shards, 0} end
  return {2}
end
if tonumber(m[3]) == seq then return {0, next_number, shards, id_shards, tonumber(m[13])} end
if tonumber(m[3]) ~= seq - 1 then return {2} end
call('SET', base .. 'l', owner, 'PX', ARGV[3])

-- What every change ends with; `count` is what the caller is told, also when it asks again.
local function done(count)
  call('HSET', KEYS[1], 'seq', seq, 'count', count)
  return {0, next_number, tonumber(shards), tonumber(id_shards), count}
end
