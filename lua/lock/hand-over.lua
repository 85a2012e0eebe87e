--[[
  Releases the lock and takes it for another owner of the same client, in one step.

  Safe to run twice: a repeat finds the new owner in place and answers the same. When asked to
  yield, it frees the lock and wakes everybody instead, if anybody but this client is listening.

  KEYS[1]   lock        hash: owner -> hold count
  KEYS[2]   counter     string: the last fencing token issued for this lock
  ARGV[1]   from        the owner who lets go
  ARGV[2]   token       number: the token of the hold that ends
  ARGV[3]   to          the owner who follows
  ARGV[4]   leaseMs     the lease of the one who follows, in milliseconds
  ARGV[5]   notAfterUs  server time after which nothing is done, in µs; 0 is never
  ARGV[6]   counterMs   how long the counter is kept from now, in milliseconds; 0 is for good
  ARGV[7]   channel     where the waiters of this lock listen
  ARGV[8]   publish     PUBLISH or SPUBLISH
  ARGV[9]   listening   number or '': how many listeners are this client's own; '' keeps the lock in the
                        client
  ARGV[10]  vote        1 or '': whether it is one master of several, which counts on without the clock
  ARGV[11]  reserve     number: how many tokens are wanted beside the one, as for `acquire`

  Returns
    { 'granted', token >= 1, reserved = 0 }
                             the lock is the follower's, with so many tokens below that one
    { 'yielded', others >= 1 }
                             the lock is free, and so many others who listen have been woken
    { 'gone' }               the first owner did not hold it any more; nothing was done
    { 'late', serverTimeUs >= 1 }  refused: it is later than notAfterUs
]]
local lock, counter = KEYS[1], KEYS[2]
local from, token, to, leaseMs = ARGV[1], ARGV[2], ARGV[3], ARGV[4]
local notAfterUs, counterMs = tonumber(ARGV[5]), ARGV[6]
local channel, publish, listening, vote = ARGV[7], ARGV[8], tonumber(ARGV[9]), ARGV[10]
local reserve = tonumber(ARGV[11])

-- include: parts/server-time.lua

-- include: parts/late.lua

-- include: parts/counter.lua

-- include: parts/token.lua

-- include: parts/listeners.lua

-- include: parts/read-write.lua

local held = redis.call('HMGET', lock, from, to, 'mode')
if held[3] then
  return redis.error_reply(READ_WRITE)
end
local last = tonumber(redis.call('GET', counter) or nil)
if held[2] and not held[1] then
  return { 'granted', string.format('%.0f', last or token) }
end
-- The counter of one master of several may be anywhere, and its owners have a name for each hold.
if not held[1] or vote ~= '1' and (last or 0) > tonumber(token) then
  if not held[1] then
    -- It changes nothing. A replica refuses it, because it may not have received the hold yet.
    redis.call('HDEL', lock, from)
  end
  return { 'gone' }
end

local nowUs = serverTimeUs()
if isLate(notAfterUs) then
  return { 'late', serverTimeText() }
end
local others = listening and listenersAt(channel, publish) - listening or 0
if others > 0 then
  redis.call('DEL', lock)
  redis.call(publish, channel, '0')
  return { 'yielded', others }
end

local floorUs = vote == '1' and 0 or nowUs
local highest = math.max(last or 0, tonumber(token))
local newToken = nextToken(highest, floorUs, reserve)
redis.call('HSET', lock, to, '1')
redis.call('HDEL', lock, from)
redis.call('PEXPIRE', lock, leaseMs)
setCounter(counter, newToken, counterMs, leaseMs)
return { 'granted', newToken, reserve > 0 and reserve or nil }
