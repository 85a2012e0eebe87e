--[[
  Ends one hold that the caller saw, and no other hold. Then the script grants the lock to the next waiter of the queue,
  or wakes the callers that do not queue. The script raises the counter, so that each later token is above every token
  of the ended hold.

  Safe to run twice: a repeat cannot end the next hold, because that hold has another owner or a newer token. With
  several masters, each master also stores the name of the owner, so that no repair restores the hold there.

  KEYS[1]  lock          hash: owner -> hold count
  KEYS[2]  counter       string: the last fencing token issued for this lock
  KEYS[3]  queue         zset: owner -> ticket
  KEYS[4]  waiting       hash: client -> the server time in ms until which its places count
  KEYS[5]  javaQueue     list: the waiters of Redisson's fair lock
  KEYS[6]  javaTimeouts  zset: each of these waiters -> the time in ms after which it counts as dead
  KEYS[7]  forced        hash: the owners that lost the lock by force
  ARGV[1]  owner         `<clientId>:<owner>` of the holder that the caller saw
  ARGV[2]  token         number or '': the last token that the caller saw; '' ends any hold of the owner
  ARGV[3]  floor         number: the counter is raised to at least this value
  ARGV[4]  counterMs     how long the counter is kept from now, at least, in milliseconds
  ARGV[5]  claimMs       how long an unconfirmed grant lasts, in milliseconds
  ARGV[6]  inbox         the prefix of the inbox channels of the clients
  ARGV[7]  channel       the channel of the callers that do not queue
  ARGV[8]  publish       PUBLISH or SPUBLISH
  ARGV[9]  forcedMs      with several masters: how long the name of the owner is stored, in milliseconds; 0 on a single
                         server

  Returns
    { 'taken', fence }           each later token is above the fence
    { 'free', fence: number or '' as null }  the lock is free; the fence is '' on a single server
    { 'changed' }                another owner holds the lock, or the same owner has a newer token
]]
local keys = { lock = KEYS[1], counter = KEYS[2], queue = KEYS[3], waiting = KEYS[4] }
local javaQueue, javaTimeouts, forced = KEYS[5], KEYS[6], KEYS[7]
local owner, token, floor = ARGV[1], ARGV[2], ARGV[3]
local channel, publish, forcedMs = ARGV[7], ARGV[8], ARGV[9]
local terms = { counterMs = ARGV[4], claimMs = tonumber(ARGV[5]), inbox = ARGV[6] }

-- include: parts/server-time.lua

-- include: parts/counter.lua

-- include: parts/fence.lua

-- include: parts/token.lua

-- include: parts/issue-token.lua

-- include: parts/queue.lua

-- include: parts/read-write.lua

-- include: parts/wake-java.lua

local found = redis.call('HMGET', keys.lock, owner, 'mode')
if found[2] then
  return redis.error_reply(READ_WRITE)
end
if forcedMs ~= '0' then
  -- A server with full memory refuses HSET as the first write of a script. So this HDEL comes first, and changes
  -- nothing.
  redis.call('HDEL', forced, '')
  redis.call('HSET', forced, owner, '1')
  redis.call('PEXPIRE', forced, forcedMs)
end
local fence = lastOf(keys.counter, floor)
local isNewer = token ~= '' and tonumber(redis.call('GET', keys.counter) or 0) > tonumber(token)
if not found[1] or isNewer then
  if redis.call('EXISTS', keys.lock) == 1 then
    return { 'changed' }
  elseif forcedMs == '0' then
    return { 'free', '' }
  end
  -- Other masters may have the hold. This master may vote for the next owner, so its next token must be above the fence
  -- too.
  raiseTo(keys.counter, fence, terms.counterMs)
  return { 'free', fence }
end

redis.call('DEL', keys.lock)
raiseTo(keys.counter, fence, terms.counterMs)
if redis.call('PTTL', keys.counter) == -1 then
  terms.counterMs = '0'
end
if not grantNext(keys, fence, terms, '') then
  if redis.call('EXISTS', keys.queue) == 0 then
    redis.call('DEL', keys.waiting)
  end
  wakeJava(javaQueue, javaTimeouts, serverTimeUs(), publish, channel)
  redis.call(publish, channel, '0')
end
return { 'taken', fence }
