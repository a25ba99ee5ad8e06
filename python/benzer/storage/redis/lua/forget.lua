-- Undo what was not committed: the documents from `published` to `next`, by a portion. Gives how many are left.
call('DEL', base .. 's', base .. 'u')
if call('HEXISTS', KEYS[1], 'timed') == 0 then call('DEL', base .. 'f') end
call('ZREMRANGEBYSCORE', base .. 'x', generation + 1, '+inf')
local upto = math.min(next_number, published + 2 * AT_ONCE)
for from = published, upto - 1, AT_ONCE / 2 do
  local names, scores = {}, {}
  for number = from, math.min(from + AT_ONCE / 2, upto) - 1 do
    names[#names + 1] = base .. 'd' .. number
    scores[#scores + 1] = 0
    scores[#scores + 1] = number
  end
  call('UNLINK', unpack(names))
  call('ZADD', base .. 'x', unpack(scores))
end
call('HSET', KEYS[1], 'published', upto, 'staged', 0)
return done(next_number - upto)
