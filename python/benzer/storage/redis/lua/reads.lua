--! view
-- By what state does a reader see? ARGV[1..4]: "n" the newest; "f" P G E, one seen before; "w" token, the writer's.
-- P: documents from this number on are not there yet. G: the last commit seen. E: documents below have expired.
local view = {}
local function look()
  local m = call('HMGET', KEYS[1], 'published', 'generation', 'expired', 'floor', 'shards', 'ttl', 'owner',
                 'documents', 'staged', 'rewrites', 'id_shards', 'made')
  if not m[1] then return 1 end
  if (m[12] or '') ~= made then return 7 end
  view.ttl = tonumber(m[6])
  view.shards, view.rewrites, view.id_shards = tonumber(m[5]), tonumber(m[10]), tonumber(m[11])
  view.once = floor_power(view.shards)
  view.documents, view.generation = tonumber(m[8]), tonumber(m[2])
  view.removed = call('ZCARD', base .. 'x')
  if ARGV[1] == 'f' then
    view.P, view.G, view.E = tonumber(ARGV[2]), tonumber(ARGV[3]), tonumber(ARGV[4])
    if view.G < tonumber(m[4]) or view.E < tonumber(m[3]) then return 3 end
    return 0
  end
  view.E = expired_before(tonumber(m[3]), tonumber(m[6]))
  if ARGV[1] == 'w' then
    if m[7] ~= ARGV[2] then return 2 end
    view.P, view.G = 2 ^ 33, 2 ^ 53
    view.documents = view.documents + tonumber(m[9])
  else
    view.P, view.G = tonumber(m[1]), tonumber(m[2])
  end
  return 0
end

-- The numbers among `numbers` that are held, in order.
local function held(numbers)
  local inside = {}
  for i = 1, #numbers do
    local number = numbers[i]
    if number < view.P and number >= view.E then inside[#inside + 1] = number end
  end
  if view.removed == 0 then return inside end
  local kept = {}
  for from = 1, #inside, AT_ONCE do
    local upto = math.min(from + AT_ONCE - 1, #inside)
    local scores = call('ZMSCORE', base .. 'x', unpack(inside, from, upto))
    for i = from, upto do
      local score = scores[i - from + 1]
      if not score or tonumber(score) > view.G then kept[#kept + 1] = inside[i] end
    end
  end
  return kept
end

-- The records of documents, as many as `budget` bytes allow and at least one; how many were looked at.
local function records_of(numbers, budget)
  local records, bytes = {}, 0
  for from = 1, #numbers, 32 do
    local names = {}
    for i = from, math.min(from + 31, #numbers) do names[#names + 1] = base .. 'd' .. numbers[i] end
    local some = call('MGET', unpack(names))
    for i = 1, #names do
      records[#records + 1] = some[i]
      bytes = bytes + (some[i] and #some[i] or 0)
      if bytes > budget then return records, from + i - 1 end
    end
  end
  return records, #numbers
end

local function packed(numbers)
  local parts = {}
  for i = 1, #numbers do parts[i] = pack('<I4', numbers[i]) end
  return table.concat(parts)
end

local function unpacked(text)
  local numbers = {}
  for at = 1, #text, 4 do numbers[#numbers + 1] = (unpack_number('<I4', text, at)) end
  return numbers
end

--! find: shared, view
-- Which documents share a key? ARGV: after those of `view` the keys (8 bytes each, distinct), and how many
-- records at most are handed out together with the numbers; "1" when it does not matter which key a number was found
-- under. Gives the places of the keys and the numbers found under them, the numbers, records; long shards are handed out as they are, for the client to search.
local code = look()
if code > 0 then return {code} end
local keys, limit = ARGV[5], tonumber(ARGV[6])
local matches, numbers, seen, long, budget = {}, {}, {}, {}, 2 ^ 20
local asked, told = {}, {}
for at = 1, #keys, 8 do
  asked[#asked + 1] = shard_of(unpack_number('<I4', keys, at), view.shards, view.once)
end
for from = 0, #asked - 1, AT_ONCE do
  local some = {unpack(asked, from + 1, math.min(from + AT_ONCE, #asked))}
  local texts = read('p', some)
  for i = 1, #some do
    local text, place = texts[i], from + i - 1
    local key = sub(keys, place * 8 + 1, place * 8 + 8)
    if text and find(text, key, 1, true) then
      search(text, key, function(number)
        if ARGV[7] ~= '1' then matches[#matches + 1] = pack('<I4', place) .. number end
        if not seen[number] then
          seen[number] = true
          numbers[#numbers + 1] = (unpack_number('<I4', number))
        end
      end)
    elseif text == nil and not told[some[i]] then
      told[some[i]] = true
      local name = base .. 'p' .. some[i]
      local piece = budget > 0 and call('GETRANGE', name, 0, 87381 * POSTING - 1) or ''
      budget = budget - #piece
      long[#long + 1] = {some[i], call('STRLEN', name), piece}
    end
  end
end
numbers = held(numbers)
local records = {}
if #long == 0 and #numbers > 0 and #numbers <= limit then
  local done
  records, done = records_of(numbers, 2 ^ 20)
  if done < #numbers then records = {} end
end
return {0, view.P, view.G, view.E, view.documents, view.rewrites, table.concat(matches), packed(numbers), records, long}

--! piece: shared, view
-- A piece of a long shard. ARGV: after those of `view` the shard, the first byte, and how often shards had been
-- rewritten when the search began: if they have been since, it must begin again.
local code = look()
if code > 0 then return {code} end
if view.rewrites ~= tonumber(ARGV[7]) then return {5} end
local first = tonumber(ARGV[6])
return {0, view.P, view.G, view.E, view.documents,
        call('GETRANGE', base .. 'p' .. ARGV[5], first, first + 87381 * POSTING - 1)}

--! alive: shared, view
-- Which of the documents ARGV[5] (4 bytes each) are held? Gives their numbers, in order.
local code = look()
if code > 0 then return {code} end
return {0, view.P, view.G, view.E, view.documents, packed(held(unpacked(ARGV[5])))}

--! fetch: shared, view
-- The records of the documents ARGV[5] (4 bytes each): as many as fit a reply, false for one that is not held.
local code = look()
if code > 0 then return {code} end
local numbers = unpacked(ARGV[5])
local inside = held(numbers)
local records, looked = records_of(inside, 2 ^ 22)
local found = {}
for i = 1, looked do found[inside[i]] = records[i] end
local answer, last = {}, inside[looked + 1]
for i = 1, #numbers do
  if numbers[i] == last then break end
  answer[i] = found[numbers[i]] or false
end
return {0, view.P, view.G, view.E, view.documents, answer}

--! numbers: shared, view
-- The numbers of the documents with the ids ARGV[5..], 8 bytes of hash before each. Gives 8 bytes for each, a
-- floating-point number, -1 for none.
local code = look()
if code > 0 then return {code} end
local id_once, places, answer = floor_power(view.id_shards), {}, {}
for argument = 5, #ARGV do
  places[#places + 1] = shard_of(unpack_number('<I4', ARGV[argument]), view.id_shards, id_once)
end
for from = 1, #places, AT_ONCE do
  local some = {unpack(places, from, math.min(from + AT_ONCE - 1, #places))}
  local texts = read('i', some, true)
  for i = 1, #some do
    local field, number = ARGV[from + i + 3], -1
    local filed = {}
    search(texts[i] or '', sub(field, 1, 8), function(found) filed[#filed + 1] = (unpack_number('<I4', found)) end)
    if #filed > 0 then
      filed = held(filed)
      local id, start = sub(field, 9), view.ttl > 0 and 8 or 4
      for j = 1, #filed do
        local head = call('GETRANGE', base .. 'd' .. filed[j], start, start + 3 + #id)
        if head == pack('<I4', #id) .. id then number = filed[j] end
      end
    end
    answer[#answer + 1] = pack('<d', number)
  end
end
return {0, view.P, view.G, view.E, view.documents, table.concat(answer)}

--! walk: shared, view
-- The next documents by number. ARGV: after those of `view` the first number, the end, and how many at most.
-- Gives where to go on, the numbers, and the records.
local code = look()
if code > 0 then return {code} end
local first = math.max(tonumber(ARGV[5]), view.E, tonumber(call('HGET', KEYS[1], 'low')))
local limit, stop = tonumber(ARGV[7]), math.min(tonumber(ARGV[6]), view.P)
local numbers, records, budget, looks = {}, {}, 2 ^ 22, 0
while first < stop and #numbers < limit and budget > 0 and looks < 100 do
  local some = {}
  for number = first, math.min(first + math.min(200, limit - #numbers), stop) - 1 do some[#some + 1] = number end
  local kept = held(some)
  local found, done = records_of(kept, budget)
  first = done < #kept and kept[done + 1] or some[#some] + 1
  for i = 1, done do
    if found[i] then -- not a number that was purged
      numbers[#numbers + 1], records[#records + 1] = kept[i], found[i]
      budget = budget - #found[i]
    end
  end
  looks = looks + 1
end
return {0, view.P, view.G, view.E, view.documents, first, packed(numbers), records}

--! expired: shared, view
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

--! seen: shared, view
-- When were the documents ARGV[5] (4 bytes each) last seen? Gives 8 bytes for each, a floating-point number of seconds.
local code = look()
if code > 0 then return {code} end
local numbers, answer = unpacked(ARGV[5]), {}
for from = 1, #numbers, AT_ONCE do
  local upto = math.min(from + AT_ONCE - 1, #numbers)
  local again = call('ZMSCORE', base .. 't', unpack(numbers, from, upto))
  local now_again = ARGV[1] == 'w' and call('ZMSCORE', base .. 'u', unpack(numbers, from, upto)) or {}
  for i = from, upto do
    local mark = call('ZREVRANGEBYSCORE', base .. 'f', numbers[i], 0, 'LIMIT', 0, 1)[1]
    local at = i - from + 1
    local second = math.max(tonumber(string.match(mark or '0', '^%d+')), tonumber(again[at] or 0),
                            tonumber(now_again[at] or 0))
    answer[#answer + 1] = pack('<d', second)
  end
end
return {0, view.P, view.G, view.E, view.documents, table.concat(answer)}

--! facts: shared, view
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

--! shards: shared, view
-- For a check: the shards ARGV[6] <= shard < ARGV[7] of the kind ARGV[5], "p", "i" or "x", as they are, as many as
-- fit a reply; and what is known of the whole, by which the client sees whether anything has changed on the way.
local code = look()
if code > 0 then return {code} end
local m = call('HMGET', KEYS[1], 'generation', 'next', 'rewrites', 'postings', 'ids', 'shards', 'id_shards', 'seq',
               'owner', 'published')
local known, answer, bytes = table.concat(m, ' '), {}, 0
for shard = tonumber(ARGV[6]), tonumber(ARGV[7]) - 1 do
  local piece
  if ARGV[5] == 'x' then
    piece = call('ZRANGE', base .. 'x', shard * AT_ONCE, shard * AT_ONCE + AT_ONCE - 1, 'WITHSCORES')
    bytes = bytes + 20 * #piece
  else
    piece = call('GET', base .. ARGV[5] .. shard) or ''
    bytes = bytes + #piece
  end
  answer[#answer + 1] = piece
  if bytes > 2 ^ 22 then break end
end
return {0, view.P, view.G, view.E, view.documents, known, answer}
