-- The mark of a master records from when the master may vote: `<since, µs> <origin> <durable> <replId> <longestMs>`. A
-- mark from an older version of Holdfast lacks the last two fields.

-- The answer of INFO replication, read once for each request.
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
