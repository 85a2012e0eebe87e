--[[
  Tells what is left of a latch, how many await it and which round it is in, and changes nothing.

  KEYS[1]  latch    string: what is left to be counted
  KEYS[2]  round    string: when the count was set
  KEYS[3]  kind     string: which kind has set the number
  ARGV[1]  channel  where those who await the latch listen
  ARGV[2]  publish  PUBLISH or SPUBLISH, as they are told there

  Returns
    { count, listeners, round: number or '' as null }  count is 0 and round is '' where the latch is open
]]
local latch, round, kind, channel, publish = KEYS[1], KEYS[2], KEYS[3], ARGV[1], ARGV[2]

-- include: parts/server-time.lua

-- include: parts/listeners.lua

-- include: parts/kind.lua

-- include: parts/latch.lua

local count = countOf(latch, kind)
if type(count) == 'table' then
  return count
end
local left = math.max(count or 0, 0)
return { left, listenersAt(channel, publish), left > 0 and redis.call('GET', round) or '' }
