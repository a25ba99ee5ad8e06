--! shared
-- What all scripts begin with. KEYS[1] is the hash `{prefix}:m`; every other key is `{prefix}:` and a letter:
--   m  what is known of the index as a whole        l  the lease of the writer
--   d# document number #                            p# shard # of the postings: 8 bytes of key, 4 of number, ...
--   i# shard # of the ids, the same: hash, number   n  the names of long shards
--   x  removed documents, by the commit that removed them; 0 when their records are deleted
--   h  the commits that removed documents           e  the document number up to which documents expire, by time
--   c  live documents by the second they expire     s  the same of the open transaction
--   f  when documents from a number on came: seconds, by number      k# the last commit of writer #
--   t  when documents were seen again, by number                     u  the same of the open transaction
-- A reply begins with a code: 0 done, 1 no index here, 2 the lease is lost, 3 the snapshot is gone, 4 locked,
-- 5 the shards were rewritten on the way, 6 a shard is full, 7 another index was made under the name.
-- KEYS[2] is `{prefix}:` and the mark that the index got when it was made, which no later index of that name has.
-- A call of the server costs more than what it does for one key; so keys are read and written many at once.
local call, sub, find, byte, floor = redis.call, string.sub, string.find, string.byte, math.floor
local pack, unpack_number = struct.pack, struct.unpack
local base = sub(KEYS[1], 1, -2)
local made = sub(KEYS[2], #base + 1)
local POSTING = 12
local LONG = 512 * POSTING -- from here on a shard is appended to instead of written anew, and read in pieces
local LOAD = 64 -- postings in a shard on the average
local AT_ONCE = 500 -- arguments of one command

-- The greatest power of two that is not above n.
local function floor_power(n)
  local power = 1
  while power * 2 <= n do power = power * 2 end
  return power
end

-- Linear hashing: of `shards` shards, the one for a hash of 32 bits; `once` is floor_power(shards).
local function shard_of(hash, shards, once)
  local shard = hash % (once * 2)
  if shard >= shards then shard = hash % once end
  return shard
end

-- The texts of shards, "" or false for one that is not there. Of long ones nil, unless they are asked for; which
-- are long is told by 1 beside 0.
local function read(kind, shards, with_long)
  local names, prefix = {}, base .. kind
  for i = 1, #shards do names[i] = prefix .. shards[i] end
  if call('EXISTS', base .. 'n') == 0 then
    local none = {}
    for i = 1, #shards do none[i] = 0 end
    return call('MGET', unpack(names)), none
  end
  local members, short, texts, at = {}, {}, {}, 0
  for i = 1, #shards do members[i] = kind .. shards[i] end
  local long = call('SMISMEMBER', base .. 'n', unpack(members))
  for i = 1, #names do
    if long[i] == 0 or with_long then short[#short + 1] = names[i] end
  end
  short = #short > 0 and call('MGET', unpack(short)) or short
  for i = 1, #names do
    if long[i] == 0 or with_long then
      at = at + 1
      texts[i] = short[at]
    end
  end
  return texts, long
end

-- Call `found` with each number that a shard's text has under a key.
local function search(text, key, found)
  local place = find(text, key, 1, true)
  while place do
    if place % POSTING == 1 then
      found(sub(text, place + 8, place + 11))
      place = place + POSTING - 1
    end
    place = find(text, key, place + 1, true)
  end
end

local function now()
  return tonumber(call('TIME')[1])
end

-- The number below which documents have expired by now.
local function expired_before(swept, ttl)
  if ttl == 0 then return swept end
  local newest = call('ZREVRANGEBYSCORE', base .. 'e', now(), '-inf', 'LIMIT', 0, 1)[1]
  return newest and math.max(swept, tonumber(newest)) or swept
end
