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
