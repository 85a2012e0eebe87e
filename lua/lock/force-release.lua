--[[
  Ends one hold that the caller saw, and no other hold, and wakes the waiters.

  Safe to run twice: a repeat cannot end the next hold, because that hold has another owner or a newer token. With
  several masters, each master also stores the name of the owner, so that no repair restores the hold there.

  KEYS[1]  lock       hash: owner -> hold count
  KEYS[2]  counter    string: the last fencing token issued for this lock
  KEYS[3]  forced?    hash: the owners that lost the lock by force; left out for a single server
  ARGV[1]  owner      `<clientId>:<owner>` of the holder that the caller saw
  ARGV[2]  token      number or '': the last token that the caller saw; '' ends any hold of the owner
  ARGV[3]  channel    the channel of the waiters of this lock
  ARGV[4]  publish    PUBLISH or SPUBLISH
  ARGV[5]  forcedMs?  how long the name is stored, in milliseconds; left out if `forced` is left out

  Returns
    1  the hold was ended
    0  the owner did not hold the lock any more, or has a newer hold
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
  -- A server with full memory refuses HSET as the first write of a script. So this HDEL comes first, and changes
  -- nothing.
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
