--[[
  Tells what is left of a latch, and how many await it, and changes nothing.

  KEYS[1]  latch    string: what is left to be counted
  KEYS[2]  kind     string: which kind has set the number
  ARGV[1]  channel  where those who await the latch listen
  ARGV[2]  publish  PUBLISH or SPUBLISH, as they are told there

  Returns
    { count, listeners }  count is 0 where the latch is open
]]
local latch, kind, channel, publish = KEYS[1], KEYS[2], ARGV[1], ARGV[2]

-- include: parts/server-time.lua

-- include: parts/listeners.lua

-- include: parts/kind.lua

-- include: parts/latch.lua

local count = countOf(latch, kind)
if type(count) == 'table' then
  return count
end
return { math.max(count or 0, 0), listenersAt(channel, publish) }
