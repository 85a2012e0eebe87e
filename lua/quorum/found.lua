--[[
  Lets a master that was claimed for a new deployment vote. At the first master, the script decides which client founds
  the deployment. Only that client lets the other masters vote.

  Safe to run twice: a repeat of the same client gets the same answer. If a master was emptied after the claim, the
  script changes nothing there.

  KEYS[1]  birth       string: the mark, as in `enrol`
  ARGV[1]  sinceUs     sinceUs in the answer of `claim`
  ARGV[2]  deployment  deployment in the answer of `claim`
  ARGV[3]  founder     the id of this attempt to found the deployment, which no other attempt has
  ARGV[4]  restMs      the longest lease that a client may take, in milliseconds

  Returns
    1  the master votes, and this client has founded the deployment
    0  the master has another mark by now, or half of its rest is over
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
-- The founding must happen in the first half of the resting time. The other masters were claimed later and rest for at
-- least as long, so all masters still rest.
if tonumber(mark.sinceUs) ~= sinceUs or sinceUs - serverTimeUs() < restMs * 500 then
  return 0
end
mark.sinceUs = serverTimeText()
mark.origin = mark.origin .. '/' .. founder
mark.longestMs = math.max(mark.longestMs, restMs)
writeMark(birth, mark)
return 1
