-- How many documents that are still counted have expired before the view's E? For an index with a time to live.
local code = look()
if code > 0 then return {code} end
local m = call('HMGET', KEYS[1], 'generation', 'expired')
if ARGV[1] == 'f' and tonumber(m[1]) ~= view.G then return {3} end
local count, seconds = 0, {}
local past = call('ZRANGEBYSCORE', base .. 'e', '-inf', now(), 'WITHSCORES')
for i = 1, #past, 2 do
  if tonumber(past[i]) <= view.E then seconds[#seconds + 1] = past[i + 1] end
end
for from = 1, #seconds, AT_ONCE do
  local upto = math.min(from + AT_ONCE - 1, #seconds)
  for _, letter in ipairs(ARGV[1] == 'w' and {'c', 's'} or {'c'}) do
    local counts = call('HMGET', base .. letter, unpack(seconds, from, upto))
    for i = 1, upto - from + 1 do count = count + (tonumber(counts[i]) or 0) end
  end
end
return {0, view.P, view.G, view.E, view.documents, count}
