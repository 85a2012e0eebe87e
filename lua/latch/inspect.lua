--[[
  Returns the count of a latch, the number of its listeners and its round. Changes nothing.

  KEYS[1]  latch    string: the remaining count
  KEYS[2]  round    string: the server time in µs at which the count was set
  KEYS[3]  kind     string: the kind of object that the number belongs to: `latch`, `permits` or `semaphore`
  ARGV[1]  channel  the channel of the awaiters of the latch
  ARGV[2]  publish  PUBLISH or SPUBLISH, the command that wakes the listeners

  Returns
    { count, listeners, round: number or '' as null }  if the latch is open, count is 0 and round is ''
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
