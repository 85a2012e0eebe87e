--[[
  Raises the counter of one master to the token on which the majority agreed, if the counter is below this token.

  Safe to run twice. The next owner that gets the lock from a majority gets a token above this token.

  KEYS[1]  lock       hash: owner -> hold count
  KEYS[2]  counter    string: the last fencing token issued for this lock
  ARGV[1]  owner      `<clientId>:<owner>`
  ARGV[2]  token      number: the highest token that the majority issued
  ARGV[3]  counterMs  how long the counter is kept from now, in milliseconds; 0 means forever

  Returns
    1  the owner holds the lock, and the counter is not below the token
    0  the owner does not hold the lock
]]
local lock, counter, owner, token, counterMs = KEYS[1], KEYS[2], ARGV[1], ARGV[2], ARGV[3]

-- include: parts/server-time.lua

-- include: parts/counter.lua

if redis.call('HEXISTS', lock, owner) == 0 then
  return 0
end
if tonumber(redis.call('GET', counter) or 0) < tonumber(token) then
  setCounter(counter, token, counterMs, redis.call('PTTL', lock))
end
return 1
