--[[
  Asks one master of several for its vote: takes the lock there as `acquire` does, unless the master
  may have forgotten a lease.

  Safe to run twice, as `acquire` is. It counts on from the previous token where there is one, and
  not from the time, so that masters stay in step. A token from before it forgot may not have been
  the last: then it counts on from when it was to vote again.

  KEYS[1]  lock        hash: owner -> hold count
  KEYS[2]  counter     string: the last fencing token issued for this lock
  ARGV[1]  owner       `<clientId>:<owner>`
  ARGV[2]  leaseMs     the key lives at least this long from now, in milliseconds
  ARGV[3]  notAfterUs  server time after which no count is raised, in µs; 0 is never
  ARGV[4]  counterMs   how long the counter is kept from now, in milliseconds; 0 is for good
  ARGV[5]  birth       the key that tells since when it may vote
  ARGV[6]  longestMs   the longest lease that this client takes, in milliseconds
  ARGV[7]  holds=1     the hold count wanted after this call; 1 is a first acquisition
  ARGV[8]  reserve=0   how many tokens are wanted beside the one
  ARGV[9]  token?      number: of a re-entry, the token of the hold that is re-entered, which is not
                       compared, for the counter of one master may be anywhere; left out for a first
                       acquisition

  Returns
    what `lock/acquire` returns, or
    { 'forgot', sinceUs: number or '' as null }
                             it may not vote before that time; '' when it has not been told since when,
                             as this server and for so long leases: that is what `enrol` does
]]
-- include: parts/server-time.lua

-- include: parts/late.lua

-- include: parts/counter.lua

-- include: parts/token.lua

-- include: parts/read-write.lua

-- include: parts/birth.lua

-- include: parts/acquire.lua

return acquire(
  KEYS[1], KEYS[2], ARGV[1], ARGV[2], ARGV[3], ARGV[4], ARGV[7], ARGV[8], ARGV[9],
  { birth = ARGV[5], longestMs = ARGV[6] }
)
