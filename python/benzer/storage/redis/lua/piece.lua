-- A piece of a long shard. ARGV: after those of view.lua the shard, the first byte, and how often shards had been
-- rewritten when the search began: if they have been since, it must begin again.
local code = look()
if code > 0 then return {code} end
if view.rewrites ~= tonumber(ARGV[7]) then return {5} end
local first = tonumber(ARGV[6])
return {0, view.P, view.G, view.E, view.documents,
        call('GETRANGE', base .. 'p' .. ARGV[5], first, first + 87381 * POSTING - 1)}
