-- Returns the refusal of a replica; nothing at a master. A replica may lag behind, so it must not answer that the
-- caller cannot have the lock. This HDEL changes nothing, but a replica refuses it. A master may refuse writes too,
-- because it is full or misses replicas. The answer of a master counts even then.
local function refusalOfReplica(hash)
  local tried = redis.pcall('HDEL', hash, '')
  if type(tried) == 'table' and string.find(tried.err, 'READONLY', 1, true) then
    return tried
  end
end
