--[[
  Takes the lock from the holder that was seen, and from nobody else, and wakes the waiters.

  Safe to run twice: a repeat cannot end the hold of whoever came next, for that one has another name,
  or a newer token. One master of several also notes the name, so that its holder, who may have a
  majority still, is not given the lock back there.

  KEYS[1]  lock       hash: owner -> hold count
  KEYS[2]  counter    string: the last fencing token issued for this lock
  KEYS[3]  forced?    hash: the owners whom it was taken from; left out unless it is one master of several
  ARGV[1]  owner      `<clientId>:<owner>` of the holder that was seen
  ARGV[2]  token      number or '': the last token that was seen; '' ends whatever hold that owner has
  ARGV[3]  channel    where the waiters of this lock listen
  ARGV[4]  publish    PUBLISH or SPUBLISH
  ARGV[5]  forcedMs?  how long the name is noted, in milliseconds; left out with `forced`

  Returns
    1  it was taken
    0  the owner did not have it any more
]]
local lock, counter, forced = KEYS[1], KEYS[2], KEYS[3]
local owner, token, channel, publish, forcedMs = ARGV[1], ARGV[2], ARGV[3], ARGV[4], ARGV[5]

-- include: parts/read-write.lua

local found = redis.call('HMGET', lock, owner, 'mode')
if found[2] then
  return redis.error_reply(READ_WRITE)
end
local last = tonumber(redis.call('GET', counter) or 0)
if forced then
  -- First: a full server refuses HSET, but not in a script that has written something already.
  redis.call('HDEL', forced, '')
  redis.call('HSET', forced, owner, '1')
  redis.call('PEXPIRE', forced, forcedMs)
end
if not found[1] or token ~= '' and last > tonumber(token) then
  return 0
end
redis.call('DEL', lock)
redis.call(publish, channel, '0')
return 1
