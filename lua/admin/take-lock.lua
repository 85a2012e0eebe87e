--[[
  Takes the lock from the holder that was seen, and from nobody else; raises the counter, so that every later
  token is above all that this one could have; and gives the lock to the next in the queue, or wakes those who
  wait.

  Safe to run twice: a repeat cannot end the hold of whoever came next, for that one has another name, or a
  newer token. One master of several also notes the name, which is not given the lock back there.

  KEYS[1]  lock          hash: owner -> hold count
  KEYS[2]  counter       string: the last fencing token issued for this lock
  KEYS[3]  queue         zset: owner -> ticket
  KEYS[4]  waiting       hash: client -> until when its places are alive
  KEYS[5]  javaQueue     list: the owners who queue in Redisson's fair lock
  KEYS[6]  javaTimeouts  zset: those owners -> the time in ms after which they count as dead
  KEYS[7]  forced        hash: the owners whom it was taken from
  ARGV[1]  owner         `<clientId>:<owner>` of the holder that was seen
  ARGV[2]  token         number or '': the last token that was seen; '' ends whatever hold that owner has
  ARGV[3]  floor         number: the counter is raised to this at least
  ARGV[4]  counterMs     how long the counter is kept from now at least, in milliseconds
  ARGV[5]  claimMs       how long a grant stands before it is confirmed, in milliseconds
  ARGV[6]  inbox         the prefix of the inbox channels of the clients
  ARGV[7]  channel       where those who do not queue listen
  ARGV[8]  publish       PUBLISH or SPUBLISH
  ARGV[9]  forcedMs      of one master of several how long the name is noted, in milliseconds; 0 elsewhere

  Returns
    { 'taken', fence }           every later token is above the fence
    { 'free', fence: number or '' as null }
                                 nobody has it; one master of several has a fence then as well
    { 'changed' }                somebody else has it, or the same owner under a newer token
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

-- include: parts/queue.lua

-- include: parts/read-write.lua

-- include: parts/wake-java.lua

local found = redis.call('HMGET', keys.lock, owner, 'mode')
if found[2] then
  return redis.error_reply(READ_WRITE)
end
if forcedMs ~= '0' then
  -- First: a full server refuses HSET, but not in a script that has written something already.
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
  -- Those who get it next from a majority may have this one's vote, and not that of the others.
  raiseTo(keys.counter, fence, terms.counterMs)
  return { 'free', fence }
end

redis.call('DEL', keys.lock)
raiseTo(keys.counter, fence, terms.counterMs)
local nowUs = serverTimeUs()
if redis.call('PTTL', keys.counter) == -1 then
  terms.counterMs = '0'
end
if not grantNext(keys, fence, nowUs, terms, '', false) then
  if redis.call('EXISTS', keys.queue) == 0 then
    redis.call('DEL', keys.waiting)
  end
  wakeJava(javaQueue, javaTimeouts, nowUs, publish, channel)
  redis.call(publish, channel, '0')
end
return { 'taken', fence }
