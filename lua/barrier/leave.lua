--[[
  Withdraws an arrival, so that the arrival does not count. Later copies of the request to arrive are not counted
  either. If the round is over, changes nothing.

  Safe to run twice: an arrival that was withdrawn stays withdrawn.

  KEYS[1]  barrier  zset: id of an arrival -> the server time in ms at which its lease ends
  KEYS[2]  settled  zset: outcome of an arrival -> the server time in ms until which the outcome is stored
  ARGV[1]  id       the id of the arrival

  Returns
    { 'left' }    the arrival does not count
    { 'passed' }  the round of the arrival is over: all parties had arrived
]]
local barrier, settled, id = KEYS[1], KEYS[2], ARGV[1]

-- include: parts/server-time.lua

-- include: parts/barrier.lua

local outcome = outcomeOf(barrier, settled, id)
if outcome then
  return { outcome }
end
redis.call('ZREM', barrier, id)
settle(settled, '-', { id })
return { 'left' }
