--! turn
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

--! ids
-- Which document has an id? Its number is filed under the hash of the id, like a posting, and its record tells.
local soon = expired_before(expired, ttl)

-- The number that the writer sees under an id, and the numbers whose records are deleted, of a text of a shard.
local function holder(text, key, id)
  local mine, gone
  search(text, key, function(number)
    number = unpack_number('<I4', number)
    local score = tonumber(call('ZSCORE', base .. 'x', number))
    if score == 0 then
      gone = gone or {}
      gone[number] = true
    elseif not score and number >= soon then
      local start = ttl > 0 and 8 or 4
      local head = call('GETRANGE', base .. 'd' .. number, start, start + 3 + #id)
      if head == pack('<I4', #id) .. id then mine = number end
    end
  end)
  return mine, gone
end

-- Documents from `number` on come at a second; those before the first known time count as seen then.
local function arrive(number, second)
  local last = call('ZREVRANGE', base .. 'f', 0, 0)[1]
  if string.match(last or '0', '^%d+') == second then return end
  if not last then
    number = 0
    call('HSET', KEYS[1], 'format', 2)
  end
  call('ZREMRANGEBYSCORE', base .. 'f', number, number)
  call('ZADD', base .. 'f', number, second .. ' ' .. number)
end

-- Note that a document goes with the next commit.
local function drop(number)
  call('ZADD', base .. 'x', generation + 1, number)
  staged = staged - 1
  if ttl > 0 then
    local stamp = call('GETRANGE', base .. 'd' .. number, 0, 3)
    if #stamp == 4 then call('HINCRBY', base .. 's', (unpack_number('<I4', stamp)), -1) end
  end
end

--! filing
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

--! add: shared, turn, ids, filing
-- Add documents, which nobody else sees before the commit. ARGV: after those of `turn` for how many shards of
-- postings and of ids the client has grouped them, the first number; pairs (shard, count) and numbers of ids in that
-- order; the same of postings, or nothing, when they come later; when they were seen; the records.
if shards ~= tonumber(ARGV[4]) or id_shards ~= tonumber(ARGV[5]) or next_number ~= tonumber(ARGV[6]) then
  return {2}
end
if call('HGET', KEYS[1], 'full') ~= '0' then return {6} end
local RECORDS = 12

-- Each id takes the place of the document that had it.
file('i', ARGV[7], ARGV[8], function(text, fresh)
  for place = 1, #fresh, POSTING do
    local key = sub(fresh, place, place + 7)
    if find(text, key, 1, true) then
      local record = ARGV[RECORDS + unpack_number('<I4', fresh, place + 8) - next_number]
      local mine, gone = holder(text, key, sub(record, 9, 8 + unpack_number('<I4', record, 5)))
      if mine then drop(mine) end
      if gone then
        local kept = {}
        for at = 1, #text, POSTING do
          if not gone[unpack_number('<I4', text, at + 8)] then kept[#kept + 1] = sub(text, at, at + POSTING - 1) end
        end
        state.i[2] = state.i[2] - (#text / POSTING - #kept)
        text = table.concat(kept)
      end
    end
  end
  return text
end)

local added = #ARGV - RECORDS + 1
if added > 0 then arrive(next_number, ARGV[11]) end
if ttl > 0 and added > 0 then
  local last = call('ZREVRANGE', base .. 'e', 0, 0, 'WITHSCORES')
  local expires = math.max(now() + 1 + ttl, last[2] and tonumber(last[2]) or 0)
  for i = 0, added - 1 do
    call('SET', base .. 'd' .. (next_number + i), pack('<I4', expires) .. ARGV[RECORDS + i], 'EXAT', expires + 60)
  end
  call('ZREMRANGEBYSCORE', base .. 'e', expires, expires)
  call('ZADD', base .. 'e', expires, next_number + added)
  call('HINCRBY', base .. 's', expires, added)
else
  local records = {}
  for i = 0, added - 1 do
    records[#records + 1] = base .. 'd' .. (next_number + i)
    records[#records + 1] = ARGV[RECORDS + i]
  end
  write(records, {})
end
next_number, staged = next_number + added, staged + added
call('HSET', KEYS[1], 'next', next_number, 'staged', staged)
file('p', ARGV[9], ARGV[10])
grow('i', 1000)
local left = grow('p', 1000)
shards, id_shards = unpack(call('HMGET', KEYS[1], 'shards', 'id_shards'))
return done(left)

--! post: shared, turn, filing
-- File postings of documents that were added without them, and make ARGV[7] of the new shards that are due; gives
-- how many are left to make. ARGV: after those of `turn` for how many shards they are grouped, pairs (shard,
-- count), and the postings in that order; ARGV[8] is how many postings are to come in all: an index that has none yet
-- gets its shards at once.
if ARGV[4] ~= '' and shards ~= tonumber(ARGV[4]) then return {2} end
if postings == 0 and ARGV[8] ~= '0' then
  shards = math.max(shards, math.ceil(tonumber(ARGV[8]) / LOAD))
  call('HSET', KEYS[1], 'shards', shards)
  return done(0)
end
file('p', ARGV[5], ARGV[6])
local left = grow('p', tonumber(ARGV[7]))
shards = call('HGET', KEYS[1], 'shards')
return done(left)

--! remove: shared, turn, ids
-- Remove documents with the next commit. ARGV: after those of `turn` the ids, 8 bytes of hash before each. Gives
-- how many were held.
local id_once, count, places = floor_power(id_shards), 0, {}
for argument = 4, #ARGV do
  places[#places + 1] = shard_of(unpack_number('<I4', ARGV[argument]), id_shards, id_once)
end
for from = 1, #places, AT_ONCE do
  local some = {unpack(places, from, math.min(from + AT_ONCE - 1, #places))}
  local texts = read('i', some, true)
  for i = 1, #some do
    local field = ARGV[from + i + 2]
    local mine = holder(texts[i] or '', sub(field, 1, 8), sub(field, 9))
    if mine then
      drop(mine)
      count = count + 1
    end
  end
end
call('HSET', KEYS[1], 'staged', staged)
return done(count)

--! touch: shared, turn, ids
-- Note with the next commit when documents were seen. ARGV: after those of `turn` for each document 8 bytes of hash
-- and its id, and the second; the latest second. Where no time is known yet, all others count as seen then. Gives how
-- many are held.
local id_once, count, places = floor_power(id_shards), 0, {}
for argument = 4, #ARGV - 1, 2 do
  places[#places + 1] = shard_of(unpack_number('<I4', ARGV[argument]), id_shards, id_once)
end
for from = 1, #places, AT_ONCE do
  local some = {unpack(places, from, math.min(from + AT_ONCE - 1, #places))}
  local texts = read('i', some, true)
  for i = 1, #some do
    local argument = 2 + 2 * (from + i - 1)
    local mine = holder(texts[i] or '', sub(ARGV[argument], 1, 8), sub(ARGV[argument], 9))
    if mine then
      call('ZADD', base .. 'u', 'GT', ARGV[argument + 1], mine)
      count = count + 1
    end
  end
end
if count > 0 and call('EXISTS', base .. 'f') == 0 then arrive(0, ARGV[#ARGV]) end
return done(count)

--! commit: shared, turn
-- Publish: from here on everybody sees the changes. ARGV: after those of `turn` how many documents may be dead
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

--! forget: shared, turn
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

--! clean: shared, turn
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

--! purge: shared, turn, filing
-- Rewrite the shards ARGV[5] <= shard < ARGV[6] of the kind ARGV[4] without the numbers of deleted documents. ARGV[7]
-- is the least number met in the portions before this one; gives that of all up to here.
local kind, first, last = ARGV[4], tonumber(ARGV[5]), math.min(tonumber(ARGV[6]), state[ARGV[4]][4]) - 1
local least, count, list, written, empty = tonumber(ARGV[7]), 0, {}, {}, {}
for shard = first, last do list[#list + 1] = shard end
local texts, long = read(kind, list, true)
for place = 1, #list do
  local text, numbers, kept = texts[place] or '', {}, {}
  for at = 9, #text, POSTING do numbers[#numbers + 1] = (unpack_number('<I4', text, at)) end
  for from = 1, #numbers, AT_ONCE do
    local upto = math.min(from + AT_ONCE - 1, #numbers)
    local scores = call('ZMSCORE', base .. 'x', unpack(numbers, from, upto))
    for i = from, upto do
      if numbers[i] >= expired and tonumber(scores[i - from + 1] or 1) ~= 0 then
        kept[#kept + 1] = sub(text, (i - 1) * POSTING + 1, i * POSTING)
        least = math.min(least, numbers[i])
      end
    end
  end
  if #kept < #numbers then
    count = count + #numbers - #kept
    note(kind, list[place], long[place], #kept * POSTING >= LONG)
    if #kept > 0 then
      written[#written + 1], written[#written + 2] = base .. kind .. list[place], table.concat(kept)
    else
      empty[#empty + 1] = base .. kind .. list[place]
    end
  end
end
write(written, empty)
call('HINCRBY', KEYS[1], state[kind][1], 0 - count)
call('HINCRBY', KEYS[1], 'rewrites', 1)
return done(least)

--! purged: shared, turn, filing
-- End a purge: no shard names a deleted document any more, none lives below the number ARGV[4]. Where the collection
-- has shrunk, shards are joined again: a portion of ARGV[5]; gives 1 while more are to be.
call('ZREMRANGEBYSCORE', base .. 'x', 0, 0)
call('HSET', KEYS[1], 'expired_dead', 0, 'low', ARGV[4], 'full', 0)
local mark = call('ZREVRANGEBYSCORE', base .. 'f', ARGV[4], 0, 'WITHSCORES', 'LIMIT', 0, 1)[2]
if mark then call('ZREMRANGEBYSCORE', base .. 'f', '-inf', '(' .. mark) end
if ttl > 0 then -- the times of what has expired; a document may be younger than the time it was last seen at
  local old = call('ZRANGEBYSCORE', base .. 't', '-inf', now() - ttl - 61)
  for i = 1, #old do
    if tonumber(old[i]) < tonumber(ARGV[4]) then call('ZREM', base .. 't', old[i]) end
  end
end
local left = 0
for kind, known in pairs(state) do
  local _, count, shards_name, total = unpack(known)
  local before = total
  while total > 1 and total * LOAD > 3 * count and before - total < tonumber(ARGV[5]) do
    total = total - 1
    local into = total - floor_power(total)
    local texts, long = read(kind, {into, total}, true)
    if texts[2] then
      local text = (texts[1] or '') .. texts[2]
      note(kind, into, long[1], #text >= LONG)
      note(kind, total, long[2], false)
      write({base .. kind .. into, text}, {base .. kind .. total})
    end
  end
  call('HSET', KEYS[1], shards_name, total)
  if total < before then call('HINCRBY', KEYS[1], 'rewrites', 1) end
  if total > 1 and total * LOAD > 3 * count then left = 1 end
end
shards, id_shards = unpack(call('HMGET', KEYS[1], 'shards', 'id_shards'))
return done(left)

--! release: shared, turn
-- Let go of the lease, after a rollback or once the postings are purged.
call('SET', base .. 'k' .. owner, ARGV[2], 'EX', 86400)
call('HSET', KEYS[1], 'owner', '')
call('DEL', base .. 'l')
return done(0)
