--[[
  Tells who holds the lock, and changes nothing.

  KEYS[1]  lock     hash: owner -> hold count
  KEYS[2]  counter  string: the last fencing token issued for this lock
  ARGV[1]  channel  where the waiters of this lock listen

  Returns
    { holder, holds, ttlMs, token, listeners }
    holder is '' when the lock is free, ttlMs as PTTL answers it, token '' when there is none
]]
local lock, counter, channel = KEYS[1], KEYS[2], ARGV[1]

local fields = redis.call('HGETALL', lock)
return {
  fields[1] or '',
  fields[2] or '0',
  redis.call('PTTL', lock),
  redis.call('GET', counter) or '',
  redis.call('PUBSUB', 'NUMSUB', channel)[2],
}
