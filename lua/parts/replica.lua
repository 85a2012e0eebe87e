-- Returns an error at a replica; nothing at a master. A replica may lag behind, so a replica must not answer that the
-- caller cannot have the lock. This HDEL changes nothing, but fails at a replica. It may also fail at a master that is
-- full or lacks replicas. The answer of a master counts even then.
local function refusalOfReplica(hash)
  local tried = redis.pcall('HDEL', hash, '')
  if type(tried) == 'table' and string.find(tried.err, 'READONLY', 1, true) then
    return tried
  end
end
