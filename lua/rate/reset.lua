--[[
  Deletes the grants of a rate limiter whose time has come. The grants of waiting calls stay, so calls that come later
  still come after them.

  Safe to run twice.

  KEYS[1]  log    list: the grants that still count
  KEYS[2]  state  hash: the sum of the grants, and the last times

  Returns
    1  grants were deleted
    0  there were none
]]
local log, state = KEYS[1], KEYS[2]

-- include: parts/server-time.lua

-- include: parts/rate.lua

local all = redis.call('LLEN', log)
local rate = readRate(state)
local deleted, left, visited = 0, 0, 0
eachGrant(log, 0, function(grantedUs, cost)
  visited = visited + 1
  if grantedUs <= rate.nowUs then
    deleted = deleted + 1
  elseif visited > rate.skipped then
    left = left + cost
  end
end)
if deleted == all then
  redis.call('DEL', log, state)
elseif deleted > 0 then
  redis.call('LTRIM', log, deleted, -1)
  redis.call('HSET', state, 'used', left, 'skipped', math.max(0, rate.skipped - deleted))
end
return deleted > 0 and 1 or 0
