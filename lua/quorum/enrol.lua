--[[
  Stores and returns from when a master may vote. A master that was restarted, or was a replica, may have forgotten
  leases that still run. So the master votes only when the longest of these leases would be over, as the Redlock page
  says ("delayed restarts"). The mark also stores the longest lease. Before a client with longer leases gets a vote, the
  client writes its longest lease into the mark.

  Safe to run twice, and by many clients: for each replication id of the server, the first client decides the time.

  KEYS[1]  birth    string: `<since when it votes, µs> <origin> <durable> <replId> <longestMs>`; never expires
  ARGV[1]  runId    the id of the server's process, from INFO
  ARGV[2]  restMs   the longest lease that a client may take, in milliseconds
  ARGV[3]  durable  1 or 0: 1 if the server writes everything to disk before it answers

  Returns
    sinceUs  from when the master may vote, server time in µs
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

-- A mark of an older version of Holdfast has no replication id. Such a mark is compared by the id of the server
-- process.
local isKnown = found and (mark.replId == ownId
  or (not mark.replId and mark.runId ~= '' and mark.runId == runId and not wasReplica()))
if isKnown then
  durable = durable and mark.durable
else
  -- A master that always wrote each change to disk before it answered has lost no lease, so its old time stays. Any
  -- other master may have lost leases, so it rests.
  if not (mark.replId and mark.durable and durable) then
    mark.sinceUs = string.format('%.0f', serverTimeUs() + mark.longestMs * 1000)
  end
  mark.origin = runId
end
mark.durable, mark.replId = durable, ownId
writeMark(birth, mark)
return mark.sinceUs
