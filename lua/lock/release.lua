--[[
  Lowers the hold count of the owner. At zero the lock is free, and one message wakes the waiters.

  Safe to run twice: the caller states the hold count after the call. A late release cannot end a newer hold of the
  same owner, because that hold has a newer token. The script refuses a late request that would lower a count to a
  number above 0, because the count may have been raised since.

  KEYS[1]  lock        hash: owner -> hold count
  KEYS[2]  counter     string: the last fencing token issued for this lock
  ARGV[1]  owner       `<clientId>:<owner>`
  ARGV[2]  token       number or '': the token of the hold to end; '' ends any hold of the owner
  ARGV[3]  channel     the channel of the waiters of this lock
  ARGV[4]  publish     PUBLISH or SPUBLISH
  ARGV[5]  holds=0     the hold count after this call; 0 frees the lock
  ARGV[6]  notAfterUs?  server time after which no count above 0 is set, in µs; 0 means no limit; left out if
                        `holds` is left out

  Returns
    { 'freed', listeners }   the lock is free now, and this many listeners were woken
    { 'kept' }               the owner still holds the lock, with the count asked for
    { 'gone' }               the owner did not hold the lock, or not under that token
    { 'late', serverTimeUs >= 1 }  refused: the server time is after notAfterUs
]]
-- include: parts/server-time.lua

-- include: parts/late.lua

-- include: parts/release.lua

return release(KEYS[1], KEYS[2], ARGV[1], ARGV[2], ARGV[3], ARGV[4], ARGV[5], ARGV[6])
