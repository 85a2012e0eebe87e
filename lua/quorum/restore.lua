--[[
  Gives a lock that a majority of masters has confirmed back to a master that does not have it.

  Safe to run twice. A request that was delayed on its way is refused by server time: the hold may
  be over by then.

  KEYS[1]  lock        hash: owner -> hold count
  KEYS[2]  counter     string: the last fencing token issued for this lock
  KEYS[3]  forced      hash: the owners whom the lock was taken from by force
  ARGV[1]  owner       `<clientId>:<owner>`
  ARGV[2]  holds       number: the hold count
  ARGV[3]  leaseMs     the key lives this long from now, in milliseconds
  ARGV[4]  token       number: the token of the hold
  ARGV[5]  notAfterUs  server time after which nothing is done, in µs; 0 is never
  ARGV[6]  counterMs   how long the counter is kept from now, in milliseconds; 0 is for good

  Returns
    { 'held' }               the owner has the lock there
    { 'gone' }               somebody else has it, or it was taken from the owner by force
    { 'late', serverTimeUs >= 1 }  refused: it is later than notAfterUs
]]
local lock, counter, forced = KEYS[1], KEYS[2], KEYS[3]
local owner, holds, leaseMs, token = ARGV[1], ARGV[2], ARGV[3], ARGV[4]
local notAfterUs, counterMs = tonumber(ARGV[5]), ARGV[6]

-- include: parts/server-time.lua

-- include: parts/late.lua

-- include: parts/counter.lua

if isLate(notAfterUs) then
  return { 'late', serverTimeText() }
end
if redis.call('HLEN', lock) > 0 then
  return { redis.call('HEXISTS', lock, owner) == 1 and 'held' or 'gone' }
end
if redis.call('HEXISTS', forced, owner) == 1 then
  return { 'gone' }
end
redis.call('HSET', lock, owner, holds)
redis.call('PEXPIRE', lock, leaseMs)
if tonumber(redis.call('GET', counter) or 0) < tonumber(token) then
  setCounter(counter, token, counterMs, leaseMs)
end
return { 'held' }
