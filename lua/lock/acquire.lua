--[[
  Takes the lock for an owner, or re-enters it.

  Safe to run twice: the caller states the hold count it wants afterwards, so a repeat finds that
  count already there, changes nothing and answers the same. A request that was delayed on its way
  (the caller has given up by now) is refused by server time where it would change a count.
  The token is max(previous + 1, server time in µs): it rises even when the counter was lost.
  With a reserve, as many tokens below the one that is answered are the owner's too: its client gives
  them to those who have the lock after it, in the same name.

  KEYS[1]  lock        hash: owner -> hold count
  KEYS[2]  counter     string: the last fencing token issued for this lock
  ARGV[1]  owner       `<clientId>:<owner>`
  ARGV[2]  leaseMs     the key lives at least this long from now, in milliseconds
  ARGV[3]  notAfterUs  server time after which no count is raised, in µs; 0 is never
  ARGV[4]  counterMs   how long the counter is kept from now, in milliseconds; 0 is for good
  ARGV[5]  holds=1     the hold count wanted after this call; 1 is a first acquisition
  ARGV[6]  reserve=0   how many tokens are wanted beside the one
  ARGV[7]  token?      number: of a re-entry, the token of the hold that is re-entered, which may have a
                       count of 1 by now; left out for a first acquisition

  Returns
    { 'granted', token: number >= 1 or '' as 0, reserved = 0 }
                             it is the owner's, with so many tokens below that one; the token is ''
                             for a re-entry
    { 'held', ttlMs >= -1, holder: text, ageMs: number or '' as null }
                             somebody else has it for ttlMs more; -1 means without an expiry. The holder has had it
                             for ageMs, as its token tells; '' where there is none
    { 'gone' }               a re-entry, but the owner does not hold it any more, or not under that token
    { 'late', serverTimeUs >= 1 }  refused: it is later than notAfterUs
]]
-- include: parts/server-time.lua

-- include: parts/late.lua

-- include: parts/counter.lua

-- include: parts/token.lua

-- include: parts/read-write.lua

-- include: parts/acquire.lua

return acquire(KEYS[1], KEYS[2], ARGV[1], ARGV[2], ARGV[3], ARGV[4], ARGV[5], ARGV[6], ARGV[7])
