-- The mark of one master of several tells since when it votes: parts of the scripts `vote` and `enrol`.
-- `<since, µs> <runId> <durable> <replId> <longestMs>`; one of an older Holdfast ends after <durable>.

-- What the server tells of its replication: once for all that one request does.
local replication
local function replicationInfo()
  if not replication then
    local found = redis.pcall('INFO', 'replication')
    replication = type(found) == 'string' and found or ''
  end
  return replication
end

local NO_ID = 'NOPERM the server does not tell its replication id, without which a master that was '
  .. 'started anew, or was a replica, is not recognized; the user needs the right to INFO'
