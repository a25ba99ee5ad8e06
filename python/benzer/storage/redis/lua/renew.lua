-- Keep the lease while the writer is busy elsewhere. ARGV: token, lease in ms. Gives the number of commits.
if call('HGET', KEYS[1], 'owner') ~= ARGV[1] then return {2} end
call('SET', base .. 'l', ARGV[1], 'PX', ARGV[2])
return {0, tonumber(call('HGET', KEYS[1], 'generation'))}
