--[[
  Tells since when a master may vote. One that was started anew may have forgotten leases that run,
  as may one that was a replica: it votes when the longest of them would be over, as the Redlock page
  has it ("delayed restarts"). How long that is at the most is in the mark too: a client that takes
  longer leases than all before it writes that down before it has a vote.

  Safe to run twice, and by many clients: the first of them decides for a replication id.

  KEYS[1]  birth    string: `<since when it votes, µs> <runId> <durable> <replId> <longestMs>`; the one
                    key without an expiry
  ARGV[1]  runId    the id of the server's process, as INFO tells it
  ARGV[2]  restMs   how long the longest lease may be, in milliseconds
  ARGV[3]  durable  1 or 0: whether the server writes everything to disk before it answers
  ARGV[4]  newborn  1 or 0: whether none of the masters has ever been used

  Returns
    sinceUs  since when it votes, by the time of the server
]]
-- include: parts/server-time.lua

-- include: parts/birth.lua

local birth, runId, restMs = KEYS[1], ARGV[1], tonumber(ARGV[2])
local durable, newborn = ARGV[3] == '1', ARGV[4] == '1'

local info = replicationInfo()
local ownId = string.match(info, 'master_replid:(%x+)')
if not ownId then
  return redis.error_reply(NO_ID)
end
local sinceUs, bornAs, wasDurable, rest =
  string.match(redis.call('GET', birth) or '', '^(%d+) (%S*) (%d)(.*)$')
local replId, longestMs = string.match(rest or '', '^ (%x+) (%d+)$')
longestMs = math.max(tonumber(longestMs or 0), restMs)

-- What a server has written is all that there is only where no replica can have taken over with less.
local wasReplica = string.match(info, 'second_repl_offset:(%-?%d+)') ~= '-1'
local isAlone = string.match(info, 'role:(%a+)') == 'master' and not wasReplica
  and string.match(info, 'connected_slaves:(%d+)') == '0'
  and string.match(info, 'repl_backlog_active:(%d)') == '0'
durable = durable and isAlone

-- A mark without the replication id is of an older Holdfast.
local isKnown = replId == ownId
  or (bornAs and not replId and bornAs ~= '' and bornAs == runId and not wasReplica)
if isKnown then
  durable = durable and wasDurable == '1'
else
  -- What was written before the answer is there again, with the mark; else anything may be gone.
  if not (replId and wasDurable == '1' and durable) then
    local rests = bornAs or not newborn
    sinceUs = string.format('%.0f', serverTimeUs() + (rests and longestMs * 1000 or 0))
  end
end
local mark = string.format(
  '%s %s %d %s %.0f', sinceUs, runId, durable and 1 or 0, ownId, longestMs
)
redis.call('SET', birth, mark)
return sinceUs
