--[[
  Releases the lock and takes it for another owner of the same client, in one step.

  Safe to run twice: a repeat finds the new owner in place and answers the same. When asked to
  yield, it frees the lock and wakes everybody instead, if anybody but this client is listening.

  KEYS[1]  lock        hash: owner -> hold count
  KEYS[2]  counter     string: the last fencing token issued for this lock
  ARGV[1]  from        the owner who lets go
  ARGV[2]  token       the token of the hold that ends
  ARGV[3]  to          the owner who follows
  ARGV[4]  leaseMs     the lease of the one who follows, in milliseconds
  ARGV[5]  notAfterUs  server time after which nothing is done, in µs; 0 is never
  ARGV[6]  counterMs   how long the counter is kept from now, in milliseconds; 0 is for good
  ARGV[7]  channel     where the waiters of this lock listen
  ARGV[8]  publish     PUBLISH or SPUBLISH
  ARGV[9]  listening   how many listeners are this client's own; '' keeps the lock in the client

  Returns
    { 'granted', token }     the lock is the follower's
    { 'yielded', others }    the lock is free, and so many others who listen have been woken
    { 'gone' }               the first owner did not hold it any more; nothing was done
    { 'late', serverTimeUs } refused: it is later than notAfterUs
]]
local lock, counter = KEYS[1], KEYS[2]
local from, token, to, leaseMs = ARGV[1], ARGV[2], ARGV[3], ARGV[4]
local notAfterUs, counterMs = tonumber(ARGV[5]), ARGV[6]
local channel, publish, listening = ARGV[7], ARGV[8], tonumber(ARGV[9])

-- include: parts/counter.lua

-- include: parts/listeners.lua

-- include: parts/read-write.lua

local held = redis.call('HMGET', lock, from, to, 'mode')
if held[3] then
  return redis.error_reply(READ_WRITE)
end
local last = redis.call('GET', counter)
if held[2] and last and last ~= token then
  return { 'granted', last }
end
if not held[1] or (last and last ~= token) then
  return { 'gone' }
end

local time = redis.call('TIME')
local nowUs = time[1] * 1000000 + time[2]
if notAfterUs > 0 and nowUs > notAfterUs then
  return { 'late', string.format('%.0f', nowUs) }
end
local others = listening and listenersAt(channel, publish) - listening or 0
if others > 0 then
  redis.call('DEL', lock)
  redis.call(publish, channel, '0')
  return { 'yielded', others }
end

local newToken = string.format('%.0f', math.max((tonumber(last) or tonumber(token)) + 1, nowUs))
redis.call('HSET', lock, to, 1)
redis.call('HDEL', lock, from)
redis.call('PEXPIRE', lock, leaseMs)
setCounter(counter, newToken, counterMs)
return { 'granted', newToken }
