--[[
  Frees the lock whoever holds it, and wakes the waiters.

  KEYS[1]  lock     hash: owner -> hold count
  ARGV[1]  channel  where the waiters of this lock listen
  ARGV[2]  publish  PUBLISH or SPUBLISH

  Returns
    1  it was held and is free now
    0  it was free
]]
local lock, channel, publish = KEYS[1], ARGV[1], ARGV[2]

-- HLEN refuses a key that is no lock before DEL would destroy it.
if redis.call('HLEN', lock) == 0 then
  return 0
end
redis.call('DEL', lock)
redis.call(publish, channel, '0')
return 1
