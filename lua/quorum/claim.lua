--[[
  Claims a master without a mark for a new deployment. The master does not vote yet. It rests for `restMs`, like a
  master that was emptied. When all masters were claimed for the same deployment, the script `found` ends the rest.

  Safe to run twice: a claimed master stays claimed. A master that was emptied in between gets another claim.

  KEYS[1]  birth       string: the mark, as in `enrol`
  ARGV[1]  runId       the id of the server's process, from INFO
  ARGV[2]  restMs      the longest lease that a client may take, in milliseconds
  ARGV[3]  durable     1 or 0: 1 if the server writes everything to disk before it answers
  ARGV[4]  draft       a random text of the client
  ARGV[5]  deployment  the id of the deployment; '' for the first master, which makes the id from `draft` and its time

  Returns
    { 'claimed', sinceUs, deployment: text, restMs >= 1 }  the master has not voted since this claim, and rests for at
                                                           most `restMs`
    { 'known' }         the master has another mark, so it may have voted
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
  -- With the server time, each claim of the first master gets a new id.
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
