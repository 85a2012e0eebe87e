--[[
  Lowers the owner's hold count; at zero the lock is free and one message wakes the waiters.

  Safe to run twice: the caller states the hold count it wants afterwards. A release that arrives
  late cannot end a newer hold of the same owner, for that one has a newer token, nor lower a count
  that was raised since.

  KEYS[1]  lock        hash: owner -> hold count
  KEYS[2]  counter     string: the last fencing token issued for this lock
  ARGV[1]  owner       `<clientId>:<owner>`
  ARGV[2]  token       number or '': the token of the hold to be ended; '' ends whatever hold the owner
                       has
  ARGV[3]  channel     where the waiters of this lock listen
  ARGV[4]  publish     PUBLISH or SPUBLISH
  ARGV[5]  holds=0     the hold count wanted after this call; 0 frees the lock
  ARGV[6]  notAfterUs?  server time after which no count above 0 is set, in µs; 0 is never; left out
                       with `holds`

  Returns
    { 'freed', listeners }   the lock is free now, and so many were told
    { 'kept' }               the owner holds it still, with the count asked for
    { 'gone' }               the owner did not hold it, or not under that token
    { 'late', serverTimeUs >= 1 }  refused: it is later than notAfterUs
]]
-- include: parts/server-time.lua

-- include: parts/late.lua

-- include: parts/release.lua

return release(KEYS[1], KEYS[2], ARGV[1], ARGV[2], ARGV[3], ARGV[4], ARGV[5], ARGV[6])
