--[[
  Lowers the owner's hold count; at zero the lock is free and one message wakes the waiters.

  Safe to run twice: the caller states the hold count it wants afterwards. A release that arrives
  late cannot end a newer hold of the same owner, for that one has a newer token, nor lower a count
  that was raised since.

  KEYS[1]  lock        hash: owner -> hold count
  KEYS[2]  counter     string: the last fencing token issued for this lock
  ARGV[1]  owner       `<clientId>:<owner>`
  ARGV[2]  holds       the hold count wanted after this call; 0 frees the lock
  ARGV[3]  token       the token of the hold to be ended; '' ends whatever hold the owner has
  ARGV[4]  notAfterUs  server time after which no count above 0 is set, in µs; 0 is never
  ARGV[5]  channel     where the waiters of this lock listen
  ARGV[6]  publish     PUBLISH or SPUBLISH

  Returns
    { 'freed', listeners }   the lock is free now, and so many were told
    { 'kept' }               the owner holds it still, with the count asked for
    { 'gone' }               the owner did not hold it, or not under that token
    { 'late', serverTimeUs } refused: it is later than notAfterUs
]]
local lock, counter = KEYS[1], KEYS[2]
local owner, holds, token = ARGV[1], tonumber(ARGV[2]), ARGV[3]
local notAfterUs, channel, publish = tonumber(ARGV[4]), ARGV[5], ARGV[6]

local found = redis.call('HMGET', lock, owner, 'mode')
local held = found[1]
if found[2] then
  -- A read-write lock of Redisson, which looks at no other lock, is in it by now.
  redis.call('HDEL', lock, owner)
  return { 'gone' }
end
if not held then
  return { 'gone' }
end
if token ~= '' then
  -- The counter of one master of several may be behind; none is ahead but by a newer hold.
  local last = tonumber(redis.call('GET', counter) or 0)
  if last > tonumber(token) then
    return { 'gone' }
  end
end

if holds == 0 then
  redis.call('DEL', lock)
  return { 'freed', redis.call(publish, channel, '0') }
end
if tonumber(held) <= holds then
  return { 'kept' }
end
local time = redis.call('TIME')
local nowUs = time[1] * 1000000 + time[2]
if notAfterUs > 0 and nowUs > notAfterUs then
  return { 'late', string.format('%.0f', nowUs) }
end
local lowered = redis.pcall('HINCRBY', lock, owner, holds - held)
if type(lowered) == 'table' then
  -- A full server refuses HINCRBY, but not in a script that has written something already.
  local ttlMs = redis.call('PTTL', lock)
  if ttlMs >= 0 then
    redis.call('PEXPIRE', lock, ttlMs + 1)
  else
    redis.call('PERSIST', lock)
  end
  redis.call('HINCRBY', lock, owner, holds - held)
end
return { 'kept' }
