-- Make an index unless there is one. ARGV: settings, ttl, format, mark. Gives the format, settings, ttl and mark
-- that hold.
local held = call('HMGET', KEYS[1], 'format', 'settings', 'ttl', 'made')
if held[1] then return {0, held[1], held[2], held[3], held[4] or ''} end
if call('EXISTS', KEYS[1]) == 1 then return {0, '', '', '', ''} end
if ARGV[1] == '' and ARGV[3] == '' then return {1} end
call('HSET', KEYS[1], 'format', ARGV[3], 'settings', ARGV[1], 'ttl', ARGV[2], 'next', 0, 'published', 0,
     'generation', 0, 'documents', 0, 'postings', 0, 'ids', 0, 'shards', 1, 'id_shards', 1, 'owner', '', 'seq', 0,
     'count', 0, 'staged', 0, 'low', 0, 'floor', 0, 'expired', 0, 'expired_dead', 0, 'rewrites', 0, 'full', 0,
     'made', ARGV[4])
return {0, ARGV[3], ARGV[1], ARGV[2], ARGV[4]}
