--[[
  Tells what is left of a latch, and in which round, and changes nothing.

  KEYS[1]  latch  string: what is left to be counted
  KEYS[2]  round  string: when the count was set

  Returns
    { count, round: number or '' as null, serverTimeUs >= 1 }  count is 0 where the latch is open; round is '' where it
                                                               is not known
]]
local latch, round = KEYS[1], KEYS[2]

-- include: parts/server-time.lua

-- include: parts/latch.lua

local count = countOf(latch)
if type(count) == 'table' then
  return count
end
return { math.max(count or 0, 0), redis.call('GET', round) or '', serverTimeText() }
