--[[
  Tells since when a master may vote. One that was started anew may have forgotten leases that run,
  as may one that was a replica: it votes when the longest of them would be over, as the Redlock page
  has it ("delayed restarts"). How long that is at the most is in the mark too: a client that takes
  longer leases than all before it writes that down before it has a vote.

  Safe to run twice, and by many clients: the first of them decides for a replication id.

  KEYS[1]  birth    string: `<since when it votes, µs> <origin> <durable> <replId> <longestMs>`; the one
                    key without an expiry
  ARGV[1]  runId    the id of the server's process, as INFO tells it
  ARGV[2]  restMs   how long the longest lease may be, in milliseconds
  ARGV[3]  durable  1 or 0: whether the server writes everything to disk before it answers

  Returns
    sinceUs  since when it votes, by the time of the server
]]
-- include: parts/server-time.lua

-- include: parts/birth.lua

-- include: parts/mark.lua

local birth, runId, restMs, durable = KEYS[1], ARGV[1], tonumber(ARGV[2]), ARGV[3] == '1'

local ownId = ownReplId()
if not ownId then
  return redis.error_reply(NO_ID)
end
local found, refusal = readMark(birth)
if refusal then
  return redis.error_reply(refusal)
end
local mark = found or { replId = nil, longestMs = 0, durable = false }
mark.longestMs = math.max(mark.longestMs, restMs)
durable = durable and isAlone()

-- A mark without the replication id is of an older Holdfast.
local isKnown = found and (mark.replId == ownId
  or (not mark.replId and mark.runId ~= '' and mark.runId == runId and not wasReplica()))
if isKnown then
  durable = durable and mark.durable
else
  -- What was written before the answer is there again, with the mark; else anything may be gone.
  if not (mark.replId and mark.durable and durable) then
    mark.sinceUs = string.format('%.0f', serverTimeUs() + mark.longestMs * 1000)
  end
  mark.origin = runId
end
mark.durable, mark.replId = durable, ownId
writeMark(birth, mark)
return mark.sinceUs
