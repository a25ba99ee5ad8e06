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
