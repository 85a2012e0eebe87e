--[[
  Returns the limit of the last grant, how many permits count now, and how many calls wait. Changes nothing.

  KEYS[1]  log    list: the grants that still count
  KEYS[2]  state  hash: the limit, the sum of the grants, and the last times

  Returns
    { permits: number or '' as null, perMs: number or '' as null, used, waiting, waitUs }  `used` permits count in the
                          interval that ends now. `waiting` calls have a grant in the future. A call for one permit would
                          wait for `waitUs`. Without a grant, the first two are ''
]]
local log, state = KEYS[1], KEYS[2]

-- include: parts/server-time.lua

-- include: parts/rate.lua

redis.call('LLEN', log)
local permits, perMs = unpack(redis.call('HMGET', state, 'permits', 'perMs'))
if not permits or not perMs then
  return { '', '', 0, 0, 0 }
end
local rate = readRate(state)
local used, waiting, visited, left, atUs = 0, 0, 0, rate.used, math.max(rate.nowUs, rate.lastUs)
eachGrant(log, 0, function(grantedUs, cost)
  if grantedUs > rate.nowUs then
    waiting = waiting + 1
  elseif grantedUs + perMs * 1000 > rate.nowUs then
    used = used + cost
  end
  visited = visited + 1
  if visited > rate.skipped and left + 1 > tonumber(permits) then
    left, atUs = left - cost, math.max(atUs, grantedUs + perMs * 1000)
  end
end)
return { permits, perMs, used, waiting, digits(atUs - rate.nowUs) }
