-- How are postings, and the numbers of ids, filed in shards?
local state = {p = {'postings', postings, 'shards', shards}, i = {'ids', ids, 'id_shards', id_shards}}

-- Note the shards that became long, or short again.
local function note(kind, shard, was, is)
  if is and was == 0 then call('SADD', base .. 'n', kind .. shard) end
  if not is and was == 1 then call('SREM', base .. 'n', kind .. shard) end
end

-- Write shards anew: names and texts in turn; and delete others.
local function write(texts, empty)
  for from = 1, #texts, AT_ONCE do
    call('MSET', unpack(texts, from, math.min(from + AT_ONCE - 1, #texts)))
  end
  for from = 1, #empty, AT_ONCE do
    call('DEL', unpack(empty, from, math.min(from + AT_ONCE - 1, #empty)))
  end
end

-- File postings that come in order of their shards, with pairs (shard, count). `before` sees the text of a shard
-- and what is to be filed there, and may give another text.
local function file(kind, groups, fresh, before)
  local at = 1
  for place = 1, #groups, 8 * 200 do
    local shards, pieces = {}, {}
    for group = place, math.min(place + 8 * 200, #groups) - 1, 8 do
      local shard, count = unpack_number('<I4I4', groups, group)
      shards[#shards + 1] = shard
      pieces[#pieces + 1] = sub(fresh, at, at + POSTING * count - 1)
      at = at + POSTING * count
    end
    local texts, long = read(kind, shards, before)
    local written = {}
    for i = 1, #shards do
      local name = base .. kind .. shards[i]
      if texts[i] ~= nil then
        local text = texts[i] or ''
        text = (before and before(text, pieces[i]) or text) .. pieces[i]
        note(kind, shards[i], long[i], #text >= LONG)
        written[#written + 1] = name
        written[#written + 1] = text
      elseif call('APPEND', name, pieces[i]) > 256 * 2 ^ 20 then
        call('HSET', KEYS[1], 'full', 1)
      end
    end
    write(written, {})
  end
  state[kind][2] = state[kind][2] + #fresh / POSTING
end

-- The halves of a shard by the bit `once` of the hashes; what lies together and stays together is cut out as one.
local function halves(text, once)
  local offset, mask = 0, once
  while mask >= 256 do offset, mask = offset + 1, mask / 256 end
  local twice, from, parts, counts = mask * 2, 1, {[true] = {}, [false] = {}}, {[true] = 0, [false] = 0}
  local side = #text > 0 and byte(text, 1 + offset) % twice < mask
  for place = 1 + POSTING, #text + 1, POSTING do
    local other = place < #text and byte(text, place + offset) % twice < mask
    if other ~= side or place > #text then
      local count = counts[side] + 1
      counts[side], parts[side][count] = count, sub(text, from, place - 1)
      side, from = other, place
    end
  end
  return table.concat(parts[true]), table.concat(parts[false])
end

-- Linear hashing: as many new shards as keep the load, `most` of them at once, each of which takes its half of an
-- old one. Gives how many are left to make.
local function grow(kind, most)
  local count_name, count, shards_name, shards = unpack(state[kind])
  local before, wanted = shards, math.ceil(count / LOAD)
  while shards < wanted and shards - before < most do
    local once = floor_power(shards)
    local some = math.min(100, wanted - shards, most - (shards - before), 2 * once - shards)
    local olds, written, empty = {}, {}, {}
    for i = 1, some do olds[i] = shards - once + i - 1 end
    local texts, long = read(kind, olds, true)
    for i = 1, some do
      local new = olds[i] + once
      local stay, go = halves(texts[i] or '', once)
      note(kind, olds[i], long[i], #stay >= LONG)
      note(kind, new, 0, #go >= LONG)
      if #go > 0 then
        written[#written + 1], written[#written + 2] = base .. kind .. new, go
        if #stay > 0 then
          written[#written + 1], written[#written + 2] = base .. kind .. olds[i], stay
        else
          empty[#empty + 1] = base .. kind .. olds[i]
        end
      end
    end
    write(written, empty)
    shards = shards + some
  end
  call('HSET', KEYS[1], count_name, count, shards_name, shards)
  if shards > before then call('HINCRBY', KEYS[1], 'rewrites', 1) end
  return math.max(0, wanted - shards)
end
