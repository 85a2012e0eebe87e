-- Returns an error at a replica, and nothing at a master. A replica may lag behind, so a replica must not refuse the
-- caller. This HDEL changes nothing, but fails at a replica with READONLY. If the HDEL fails at a master, the answer of
-- the master still counts.
local function refusalOfReplica(hash)
  local tried = redis.pcall('HDEL', hash, '')
  if type(tried) == 'table' and string.find(tried.err, 'READONLY', 1, true) then
    return tried
  end
end
