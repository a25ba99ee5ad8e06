-- Publish: from here on everybody sees the changes. ARGV: after those of turn.lua how many documents may be dead
-- before their postings are purged, -1 to purge in any case; for how many seconds what has expired is kept for older
-- snapshots. Gives 1, and keeps the lease, when a purge is due.
local documents, time = tonumber(m[15]) + staged, now()
generation = generation + 1
if call('ZCOUNT', base .. 'x', generation, generation) > 0 then
  local last = call('LINDEX', base .. 'h', -1)
  if last and string.match(last, ' (%d+)$') == tostring(time) then call('RPOP', base .. 'h') end
  call('RPUSH', base .. 'h', generation .. ' ' .. time)
end
for from = 0, call('ZCARD', base .. 'u') - 1, AT_ONCE do
  local some, times = call('ZRANGE', base .. 'u', from, from + AT_ONCE - 1, 'WITHSCORES'), {}
  for i = 1, #some, 2 do times[i], times[i + 1] = some[i + 1], some[i] end
  call('ZADD', base .. 't', 'GT', unpack(times))
end
call('UNLINK', base .. 'u')
if call('EXISTS', base .. 'f') == 1 then call('HSET', KEYS[1], 'timed', 1) end
local gone = 0
if ttl > 0 then
  local counts = call('HGETALL', base .. 's')
  for i = 1, #counts, 2 do call('HINCRBY', base .. 'c', counts[i], counts[i + 1]) end
  call('DEL', base .. 's')
  local past = call('ZRANGEBYSCORE', base .. 'e', '-inf', time - tonumber(ARGV[5]), 'WITHSCORES', 'LIMIT', 0, 1000)
  for i = 1, #past, 2 do
    expired = math.max(expired, tonumber(past[i]))
    gone = gone + (tonumber(call('HGET', base .. 'c', past[i + 1])) or 0)
    call('HDEL', base .. 'c', past[i + 1])
    call('ZREM', base .. 'e', past[i])
  end
end
documents = documents - gone
call('HSET', KEYS[1], 'published', next_number, 'generation', generation, 'documents', documents, 'staged', 0,
     'expired', expired)
local dead = call('HINCRBY', KEYS[1], 'expired_dead', gone) + call('ZCOUNT', base .. 'x', 0, 0)
local bound = tonumber(ARGV[4])
if bound < 0 or dead > math.max(bound, documents) then return done(1) end
call('SET', base .. 'k' .. owner, ARGV[2], 'EX', 86400)
call('HSET', KEYS[1], 'owner', '')
call('DEL', base .. 'l')
return done(0)
