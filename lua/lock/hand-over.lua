--[[
  Passes the lock from one owner of a client to another owner of the same client, in one step.

  Safe to run twice: a repeat finds the new owner in the lock and gives the same answer. With `listening`, the script
  yields if another client listens: the script frees the lock and wakes all waiters.

  KEYS[1]   lock        hash: owner -> hold count
  KEYS[2]   counter     string: the last fencing token issued for this lock
  ARGV[1]   from        the owner that releases the lock
  ARGV[2]   token       number: the token of the hold that ends
  ARGV[3]   to          the owner that gets the lock
  ARGV[4]   leaseMs     the lease of the new owner, in milliseconds
  ARGV[5]   notAfterUs  server time after which nothing changes, in µs; 0 means no limit
  ARGV[6]   counterMs   how long the counter is kept from now, in milliseconds; 0 means forever
  ARGV[7]   channel     the channel of the waiters of this lock
  ARGV[8]   publish     PUBLISH or SPUBLISH
  ARGV[9]   listening   number or '': the number of listeners of this client; '' keeps the lock in the client
  ARGV[10]  vote        1 or '': 1 for one of several masters, which counts tokens without the clock
  ARGV[11]  reserve     number: the number of tokens wanted in addition to the first, as for `acquire`

  Returns
    { 'granted', token >= 1, reserved = 0 }  the new owner holds the lock. `reserved` is the number of its tokens below
                                             this token
    { 'yielded', others >= 1 }  the lock is free, and this many other listeners were woken
    { 'gone' }               `from` did not hold the lock any more, or not under that token; nothing was changed
    { 'late', serverTimeUs >= 1 }  refused: the server time is after notAfterUs
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
-- At one of several masters, the script does not compare the counter, because each hold there has its own owner name.
if not held[1] or vote ~= '1' and (last or 0) > tonumber(token) then
  if not held[1] then
    -- This HDEL changes nothing, but makes a replica refuse the script. A replica may not have received the hold yet.
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
