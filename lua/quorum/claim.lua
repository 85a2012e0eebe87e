--[[
  Claims a master that has no mark for a new deployment. It does not vote for that: it rests as one that was emptied
  does, until `found` says that all masters were claimed for the same deployment.

  Safe to run twice: a master that is claimed stays so. One that was emptied in between has another claim.

  KEYS[1]  birth       string: as `enrol` has it
  ARGV[1]  runId       the id of the server's process, as INFO tells it
  ARGV[2]  restMs      how long the longest lease may be, in milliseconds
  ARGV[3]  durable     1 or 0: whether the server writes everything to disk before it answers
  ARGV[4]  draft       a random text of the client
  ARGV[5]  deployment  the id of the deployment; '' of the first master, which makes one of `draft` and its time

  Returns
    { 'claimed', sinceUs, deployment: text, restMs >= 1 }
                        it has never voted since it was claimed for this deployment, and rests for `restMs` at the most
    { 'known' }         it has another mark: it may have voted
]]
-- include: parts/server-time.lua

-- include: parts/birth.lua

-- include: parts/mark.lua

local birth, runId, restMs, durable = KEYS[1], ARGV[1], tonumber(ARGV[2]), ARGV[3] == '1'
local draft, deployment = ARGV[4], ARGV[5]

local ownId = ownReplId()
if not ownId then
  return redis.error_reply(NO_ID)
end
local mark = readMark(birth)
if not mark and redis.call('GET', birth) then
  return { 'known' }
end
if not mark then
  -- Its time makes the id another one each time that the first master is claimed.
  local id = deployment ~= '' and deployment or draft .. '.' .. serverTimeText()
  mark = {
    sinceUs = string.format('%.0f', serverTimeUs() + restMs * 1000), origin = runId .. '/' .. id,
    durable = durable and isAlone(), replId = ownId, longestMs = restMs, deployment = id, founder = '',
  }
  writeMark(birth, mark)
elseif not isClaim(mark, ownId) or deployment ~= '' and mark.deployment ~= deployment then
  return { 'known' }
end
return { 'claimed', mark.sinceUs, mark.deployment, mark.longestMs }
