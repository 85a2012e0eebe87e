--[[
  Ends an owner's hold, and gives the lock to the next in the queue; or its place in the queue.

  When nobody queues the lock is free, and a message wakes those who wait without queueing, and the
  first in the queue of Redisson's fair lock. Safe to run twice: a repeat finds nothing to end. A
  release that arrives late cannot end a newer hold of the same owner, for that one has a newer
  token.

  KEYS[1]  lock           hash: owner -> hold count
  KEYS[2]  counter        string: the last fencing token issued for this lock
  KEYS[3]  queue          zset: owner -> ticket
  KEYS[4]  waiting        hash: client -> until when its places are alive
  KEYS[5]  javaQueue      list: the owners who queue in Redisson's fair lock
  KEYS[6]  javaTimeouts   zset: those owners -> the time in ms after which they count as dead
  ARGV[1]  owner          `<clientId>:<owner>`
  ARGV[2]  token          number or '': the token of the hold to be ended; '' ends all that the owner has
  ARGV[3]  counterMs      how long the counter is kept from now, in milliseconds; 0 is for good
  ARGV[4]  claimMs        how long a grant stands before it is confirmed, in milliseconds
  ARGV[5]  inbox          the prefix of the inbox channels of the clients
  ARGV[6]  channel        where those who do not queue listen
  ARGV[7]  publish        PUBLISH or SPUBLISH

  Returns
    { 'granted', owner: text, token >= 1 }
                                 the lock is this owner's now. It was told, unless a token was given
                                 and it is of the same client as the one who let go
    { 'freed', listeners }       the lock is free, and so many were told
    { 'gone' }                   the owner did not hold it, or not under that token
]]
local keys = { lock = KEYS[1], counter = KEYS[2], queue = KEYS[3], waiting = KEYS[4] }
local javaQueue, javaTimeouts = KEYS[5], KEYS[6]
local owner, token, channel, publish = ARGV[1], ARGV[2], ARGV[6], ARGV[7]
local terms = { counterMs = ARGV[3], claimMs = tonumber(ARGV[4]), inbox = ARGV[5] }

-- include: parts/server-time.lua

-- include: parts/counter.lua

-- include: parts/token.lua

-- include: parts/queue.lua

-- include: parts/wake-java.lua

local found = redis.call('HMGET', keys.lock, owner, 'mode')
local held = found[1]
if found[2] then
  -- A read-write lock of Redisson, which looks at no other lock, is in it by now.
  redis.call('HDEL', keys.lock, owner)
  held = false
end
local last = redis.call('GET', keys.counter)
if token == '' then
  redis.call('HDEL', keys.waiting, owner)
  redis.call('ZREM', keys.queue, owner)
  if redis.call('EXISTS', keys.queue) == 0 then
    redis.call('DEL', keys.waiting)
  end
elseif last and last ~= token then
  held = false
end
if not held then
  if not found[1] then
    -- It changes nothing. A replica refuses it, which may not have heard of the hold yet.
    redis.call('HDEL', keys.lock, owner)
  end
  return { 'gone' }
end

local nowUs = serverTimeUs()
-- Who ends all of an owner's in the background does not look at the reply.
local client, silent = clientOf(owner), token ~= ''
local following, newToken = grantNext(keys, last or token, nowUs, terms, client, silent)
if following then
  if following ~= owner then
    redis.call('HDEL', keys.lock, owner)
  end
  return { 'granted', following, newToken }
end

if redis.call('HLEN', keys.waiting) > 0 and redis.call('EXISTS', keys.queue) == 0 then
  redis.call('DEL', keys.waiting)
end
redis.call('DEL', keys.lock)
wakeJava(javaQueue, javaTimeouts, nowUs, publish, channel)
return { 'freed', redis.call(publish, channel, '0') }
