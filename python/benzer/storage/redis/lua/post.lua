-- File postings of documents that were added without them, and make ARGV[7] of the new shards that are due; gives
-- how many are left to make. ARGV: after those of turn.lua for how many shards they are grouped, pairs (shard,
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
