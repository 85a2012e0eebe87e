--[[
  Lets a master vote that was claimed for a new deployment. Of the first master it decides which client founds the
  deployment: only that client lets the others vote.

  Safe to run twice: a repeat of the same client answers the same. A master that was emptied since the claim stays as
  it is.

  KEYS[1]  birth       string: as `enrol` has it
  ARGV[1]  sinceUs     what `claim` answered
  ARGV[2]  deployment  the same
  ARGV[3]  founder     an id that no other attempt to found has
  ARGV[4]  restMs      how long the longest lease may be, in milliseconds

  Returns
    1  it votes, and this client has founded the deployment
    0  it has another mark by now, or half of its rest is over
]]
-- include: parts/server-time.lua

-- include: parts/birth.lua

-- include: parts/mark.lua

local birth, sinceUs, deployment = KEYS[1], tonumber(ARGV[1]), ARGV[2]
local founder, restMs = ARGV[3], tonumber(ARGV[4])

local mark = readMark(birth)
if not mark or mark.replId ~= ownReplId() or mark.deployment ~= deployment then
  return 0
end
if mark.founder == founder then
  return 1
end
-- The others rest for at least as long, from a later moment on. So none of them has voted by itself before half of
-- this rest is over.
if tonumber(mark.sinceUs) ~= sinceUs or sinceUs - serverTimeUs() < restMs * 500 then
  return 0
end
mark.sinceUs = serverTimeText()
mark.origin = mark.origin .. '/' .. founder
mark.longestMs = math.max(mark.longestMs, restMs)
writeMark(birth, mark)
return 1
