-- How many documents that are still counted have expired before the view's E? For an index with a time to live.
local code = look()
if code > 0 then return {code} end
local m = call('HMGET', KEYS[1], 'generation', 'expired')
if ARGV[1] == 'f' and tonumber(m[1]) ~= view.G then return {3} end
local count = 0
local past = call('ZRANGE', base .. 'e', 0, -1, 'WITHSCORES')
for i = 1, #past, 2 do
  if tonumber(past[i]) > view.E then break end
  count = count + (tonumber(call('HGET', base .. 'c', past[i + 1])) or 0)
  if ARGV[1] == 'w' then count = count + (tonumber(call('HGET', base .. 's', past[i + 1])) or 0) end
end
return {0, view.P, view.G, view.E, view.documents, count}
