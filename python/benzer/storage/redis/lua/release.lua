-- Let go of the lease, after a rollback or once the postings are purged.
call('SET', base .. 'k' .. owner, ARGV[2], 'EX', 86400)
call('HSET', KEYS[1], 'owner', '')
call('DEL', base .. 'l')
return done(0)
