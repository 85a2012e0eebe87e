-- Included after parts/permits.lua. Who has the permits of a semaphore, beside the permits themselves, which
-- Redisson knows as well and which have no room for it. No permit depends on it: errors are passed over.

-- Entries are kept for so much longer than the leases, so that the expiry need not be set with each of them.
local MORE_MS = 3600000

-- The entries stay for as long as a lease that begins or goes on now.
local function keepHolders(holders, leaseMs)
  local leftMs = redis.call('PTTL', holders)
  if leftMs ~= -2 and leftMs - leaseMs < MORE_MS then
    redis.call('PEXPIRE', holders, string.format('%.0f', leaseMs + 2 * MORE_MS))
  end
end

-- The owner of an entry and since when, in µs; nothing where there is none, or none that makes sense.
local function ownerAt(holders, head)
  local entry = redis.pcall('HGET', holders, head)
  return string.match(type(entry) == 'string' and entry or '', '^(.*:%d+) (%d+)$')
end

-- The entry goes unless its owner has any of its permits.
local function dropUnlessTaken(keys, head)
  local owner = ownerAt(keys.holders, head)
  if not owner or takenBy(keys, owner) == 0 then
    redis.pcall('HDEL', keys.holders, head)
  end
end

-- Redisson and older versions end permits and leave their entries. So an acquisition looks at some of them while
-- there are more entries than permits.
local LOOKED_AT = 10

local function addHolder(keys, owner, leaseMs, taken)
  local _, head = headOf(owner)
  if type(redis.pcall('HSET', keys.holders, head, owner .. ' ' .. serverTimeText())) == 'table' then
    return
  end
  keepHolders(keys.holders, leaseMs)
  if redis.call('HLEN', keys.holders) > taken then
    for _, other in ipairs(redis.call('HRANDFIELD', keys.holders, LOOKED_AT)) do
      dropUnlessTaken(keys, other)
    end
  end
end

-- The owners of these permits, and since when each has had them, in µs. `found` has ids and when they end.
local function holdersOf(keys, found)
  local holders, last = {}, nil
  for i = 1, #found, 2 do
    local head = headIn(found[i])
    if head ~= last then
      local owner, sinceUs = ownerAt(keys.holders, head)
      holders[#holders + 1] = owner
      holders[#holders + 1] = sinceUs
    end
    last = head
  end
  return holders
end
