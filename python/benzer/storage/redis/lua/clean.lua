-- Delete the records of documents that were removed by a commit up to ARGV[4], by a portion; gives the portion's
-- size. Their numbers stay in `x` for as long as postings name them. Older snapshots are at an end.
local gone = call('ZRANGEBYSCORE', base .. 'x', '(0', ARGV[4], 'LIMIT', 0, AT_ONCE)
if #gone > 0 then
  local names, scores = {}, {}
  for i = 1, #gone do
    names[i] = base .. 'd' .. gone[i]
    scores[i * 2 - 1], scores[i * 2] = 0, gone[i]
  end
  call('UNLINK', unpack(names))
  call('ZREM', base .. 't', unpack(gone))
  call('ZADD', base .. 'x', unpack(scores))
end
if tonumber(call('HGET', KEYS[1], 'floor')) < tonumber(ARGV[4]) then call('HSET', KEYS[1], 'floor', ARGV[4]) end
if #gone == 0 then
  while true do
    local first = call('LINDEX', base .. 'h', 0)
    if not first or tonumber(string.match(first, '%d+')) > tonumber(ARGV[4]) then break end
    call('LPOP', base .. 'h')
  end
end
return done(#gone)
