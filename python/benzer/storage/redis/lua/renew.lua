-- Keep the lease while the writer is busy elsewhere. ARGV: token, lease in ms. Gives the number of commits.
local m = call('HMGET', KEYS[1], 'owner', 'made')
if m[1] and (m[2] or '') ~= made then return {7} end
if m[1] ~= ARGV[1] then return {2} end
call('SET', base .. 'l', ARGV[1], 'PX', ARGV[2])
return {0, tonumber(call('HGET', KEYS[1], 'generation'))}
