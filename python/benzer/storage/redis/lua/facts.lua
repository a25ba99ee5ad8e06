-- Figures for people: what is known of the index, and the memory of some keys, from which that of all follows.
local code = look()
if code > 0 then return {code} end
local m = call('HMGET', KEYS[1], 'postings', 'shards', 'id_shards', 'next', 'expired_dead')
local function mean(letter, count)
  local bytes, seen = 0, 0
  for i = 0, 19 do
    local memory = call('MEMORY', 'USAGE', base .. letter .. math.floor(count * i / 20))
    if memory then bytes, seen = bytes + memory, seen + 1 end
  end
  return seen > 0 and bytes / seen or 0
end
local bytes = mean('d', tonumber(m[4])) * view.documents + mean('p', tonumber(m[2])) * tonumber(m[2])
              + mean('i', tonumber(m[3])) * tonumber(m[3])
return {0, view.P, view.G, view.E, view.documents, tonumber(m[1]), tonumber(m[2]), tonumber(m[3]), tonumber(m[4]),
        view.removed + tonumber(m[5]), math.floor(bytes)}
