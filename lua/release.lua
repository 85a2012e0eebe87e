--[[
  Lowers the owner's hold count; at zero the lock is free and one message wakes the waiters.

  Safe to run twice: the caller states the hold count it wants afterwards. A release that arrives
  late cannot end a newer hold of the same owner, for that one has a newer token.

  KEYS[1]  lock     hash: owner -> hold count
  KEYS[2]  counter  string: the last fencing token issued for this lock
  ARGV[1]  owner    `<clientId>:<owner>`
  ARGV[2]  holds    the hold count wanted after this call; 0 frees the lock
  ARGV[3]  token    the token of the hold to be ended; '' ends whatever hold the owner has
  ARGV[4]  channel  where the waiters of this lock listen
  ARGV[5]  publish  PUBLISH or SPUBLISH

  Returns
    'freed'  the lock is free now
    'kept'   the owner holds it still, with the count asked for
    'gone'   the owner did not hold it, or not under that token
]]
local lock, counter = KEYS[1], KEYS[2]
local owner, holds, token, channel, publish = ARGV[1], tonumber(ARGV[2]), ARGV[3], ARGV[4], ARGV[5]

local held = redis.call('HGET', lock, owner)
if not held then
  return 'gone'
end
if token ~= '' then
  local last = redis.call('GET', counter)
  if last and last ~= token then
    return 'gone'
  end
end
if holds > 0 then
  if tonumber(held) > holds then
    redis.call('HINCRBY', lock, owner, holds - held)
  end
  return 'kept'
end
redis.call('DEL', lock)
redis.call(publish, channel, '0')
return 'freed'
