--[[
  Asks one master of several for its vote. The script acquires the lock there as `acquire` does, unless the master may
  have forgotten a lease.

  Safe to run twice, like `acquire`. If there is a previous token, the next token follows this token and not the time,
  so that masters stay in step. The next token is also not below the time from which the master votes, because the
  master may have forgotten tokens before that time.

  KEYS[1]  lock        hash: owner -> hold count
  KEYS[2]  counter     string: the last fencing token issued for this lock
  ARGV[1]  owner       `<clientId>:<owner>`
  ARGV[2]  leaseMs     the key lives at least this long from now, in milliseconds
  ARGV[3]  notAfterUs  server time after which no count is raised, in µs; 0 means no limit
  ARGV[4]  counterMs   how long the counter is kept from now, in milliseconds; 0 means forever
  ARGV[5]  birth       the key with the mark, which records from when this master may vote
  ARGV[6]  longestMs   the longest lease of this client, in milliseconds
  ARGV[7]  holds=1     the hold count after this call; 1 is a first acquisition
  ARGV[8]  reserve=0   the number of tokens wanted in addition to the first
  ARGV[9]  token?      number: for a re-entry, the token of the hold. The script does not compare the token, because
                       the counter of one master proves nothing; left out for a first acquisition

  Returns
    what `lock/acquire` returns, or
    { 'forgot', sinceUs: number or '' as null }  the master may not vote before `sinceUs`. It is '' if the
                                                 mark is missing, has another replication id, or names a shorter
                                                 lease. Then the client calls `enrol`
]]
-- include: parts/server-time.lua

-- include: parts/late.lua

-- include: parts/counter.lua

-- include: parts/token.lua

-- include: parts/issue-token.lua

-- include: parts/read-write.lua

-- include: parts/birth.lua

-- include: parts/replica.lua

-- include: parts/acquire.lua

return acquire(
  KEYS[1], KEYS[2], ARGV[1], ARGV[2], ARGV[3], ARGV[4], ARGV[7], ARGV[8], ARGV[9],
  { birth = ARGV[5], longestMs = ARGV[6] }
)
