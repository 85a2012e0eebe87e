-- Included after parts/permits.lua. Releases the permits of an owner, and makes expired permits available. Returns how
-- many permits are then available, whether the owner held all its permits, and whether any permit became available.
local function releaseLeased(keys, owner, available)
  local expired, freed = giveBackExpired(keys), 0
  eachOf(owner, function(ids)
    freed = freed + redis.call('ZREM', keys.timeouts, unpack(ids))
  end)
  local _, head = headOf(owner)
  redis.pcall('HDEL', keys.holders, head)
  available = available + expired
  if freed > 0 then
    available = redis.call('INCRBY', keys.pool, freed)
  end
  return available, freed == permitsOf(owner), expired + freed > 0
end
