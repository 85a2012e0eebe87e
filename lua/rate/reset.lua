--[[
  Forgets all grants of a rate limiter, so that all permits are free. Calls that wait keep their times.

  Safe to run twice.

  KEYS[1]  log    list: the grants that still count
  KEYS[2]  state  hash: the sum of the grants, and the last times

  Returns
    1  there were grants
    0  there were none
]]
local log, state = KEYS[1], KEYS[2]
redis.call('LLEN', log)
return redis.call('DEL', log, state) > 0 and 1 or 0
