--[[
  Frees the lock whoever holds it, and wakes the waiters.

  KEYS[1]  lock     hash: owner -> hold count
  ARGV[1]  channel  where the waiters of this lock listen
  ARGV[2]  publish  PUBLISH or SPUBLISH

  Returns
    the owner whom it was taken from; '' when it was free
]]
local lock, channel, publish = KEYS[1], ARGV[1], ARGV[2]

-- include: parts/read-write.lua

-- This refuses a key that is no lock of ours before DEL would destroy it.
if redis.call('HEXISTS', lock, 'mode') == 1 then
  return redis.error_reply(READ_WRITE)
end
local owner = redis.call('HKEYS', lock)[1]
if not owner then
  return ''
end
redis.call('DEL', lock)
redis.call(publish, channel, '0')
return owner
