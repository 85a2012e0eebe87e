--[[
  Acquires the lock for an owner, or re-enters it.

  Safe to run twice: the caller states the hold count after the call. A repeat finds that count, changes nothing and
  gives the same answer. If a delayed request would change a count, the script refuses the request by server time,
  because its caller has given up. The token is max(previous + 1, server time in µs), so the token rises even if the
  counter is lost. With a reserve, the owner also gets that many tokens below the token of the answer. Its client gives
  these tokens to later holders under the same name.

  KEYS[1]  lock        hash: owner -> hold count
  KEYS[2]  counter     string: the last fencing token issued for this lock
  ARGV[1]  owner       `<clientId>:<owner>`
  ARGV[2]  leaseMs     the key lives at least this long from now, in milliseconds
  ARGV[3]  notAfterUs  server time after which no count is raised, in µs; 0 means no limit
  ARGV[4]  counterMs   how long the counter is kept from now, in milliseconds; 0 means forever
  ARGV[5]  holds=1     the hold count after this call; 1 is a first acquisition
  ARGV[6]  reserve=0   the number of tokens wanted in addition to the first
  ARGV[7]  token?      number: for a re-entry, the token of the hold; left out for a first acquisition. A call with a
                       token is a re-entry even if `holds` is 1, because the earlier acquisitions may be released by now

  Returns
    { 'granted', token: number >= 1 or '' as 0, reserved = 0 }  the owner holds the lock. `reserved` is the number of
                             its tokens below this token. The token is '' for a re-entry
    { 'held', ttlMs >= -1, holder: text, ageMs: number or '' as null }  another owner holds the lock for ttlMs more; -1
                             means no expiry. The holder has held it for ageMs, computed from its token; '' without a
                             token
    { 'gone' }               a re-entry, but the owner does not hold the lock any more, or not under that token
    { 'late', serverTimeUs >= 1 }  refused: the server time is after notAfterUs
]]
-- include: parts/server-time.lua

-- include: parts/late.lua

-- include: parts/counter.lua

-- include: parts/token.lua

-- include: parts/issue-token.lua

-- include: parts/read-write.lua

-- include: parts/replica.lua

-- include: parts/acquire.lua

return acquire(KEYS[1], KEYS[2], ARGV[1], ARGV[2], ARGV[3], ARGV[4], ARGV[5], ARGV[6], ARGV[7])
