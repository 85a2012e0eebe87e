-- The mark of one master of several tells since when it votes: parts of the scripts `vote` and `enrol`.
-- `<since, µs> <runId> <durable> <replId> <longestMs>`; one of an older Holdfast ends after <durable>.

-- What the server tells of its replication: once for all that one request does.
local replication
local function replicationFact(pattern)
  if not replication then
    local found = redis.pcall('INFO', 'replication')
    replication = type(found) == 'string' and found or ''
  end
  return string.match(replication, pattern)
end

-- A server has another replication id each time that it starts, or is promoted, or gets its first
-- replica. It is asked for here: a connection can outlive all but the first.
local function replicationId()
  return replicationFact('master_replid:(%x+)')
end

local NO_ID = 'NOPERM the server does not tell its replication id, without which a master that was '
  .. 'started anew, or was a replica, is not recognized; the user needs the right to INFO'
