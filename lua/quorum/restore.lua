--[[
  Restores a lock at a master that does not have it, after a majority of masters has confirmed the lock.

  Safe to run twice. The script refuses a delayed request by server time, because the hold may be over by then.

  KEYS[1]  lock        hash: owner -> hold count
  KEYS[2]  counter     string: the last fencing token issued for this lock
  KEYS[3]  forced      hash: the owners that lost the lock by force
  ARGV[1]  owner       `<clientId>:<owner>`
  ARGV[2]  holds       number: the hold count
  ARGV[3]  leaseMs     the key lives this long from now, in milliseconds
  ARGV[4]  token       number: the token of the hold
  ARGV[5]  notAfterUs  server time after which nothing changes, in µs; 0 means no limit
  ARGV[6]  counterMs   how long the counter is kept from now, in milliseconds; 0 means forever

  Returns
    { 'held' }               the owner holds the lock at this master
    { 'gone' }               another owner holds the lock, or this owner lost it by force
    { 'late', serverTimeUs >= 1 }  refused: the server time is after notAfterUs
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
