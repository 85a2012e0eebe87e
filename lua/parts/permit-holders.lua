-- Included after parts/permits.lua. Stores the owners of the permits of a semaphore, because Redisson's keys have no
-- room for them. No permit depends on these entries, so errors are ignored.

-- One hour. Entries outlive the leases by one to two hours. Because of the second hour, most acquisitions need not set
-- the expiry again.
local MORE_MS = 3600000

-- Called when a lease begins or is renewed: keeps the entries for at least as long as this lease.
local function keepHolders(holders, leaseMs)
  local leftMs = redis.call('PTTL', holders)
  if leftMs ~= -2 and leftMs - leaseMs < MORE_MS then
    redis.call('PEXPIRE', holders, string.format('%.0f', leaseMs + 2 * MORE_MS))
  end
end

-- Returns the owner of an entry, and the server time in µs at which it acquired its permits. Returns nothing if the
-- entry is missing or malformed.
local function ownerAt(holders, head)
  local entry = redis.pcall('HGET', holders, head)
  return string.match(type(entry) == 'string' and entry or '', '^(.*:%d+) (%d+)$')
end

-- Deletes the entry, unless its owner still holds a permit. `head` is the beginning of the ids.
local function dropUnlessTaken(keys, head)
  local owner = ownerAt(keys.holders, head)
  if not owner or takenBy(keys, owner) == 0 then
    redis.pcall('HDEL', keys.holders, head)
  end
end

-- When Redisson or an older version of Holdfast ends a permit, its entry stays. So if there are more entries than taken
-- permits, an acquisition checks this many random entries.
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

-- Returns the known owners of these permits. Each owner is followed by the server time in µs of its acquisition. In
-- `found`, each id is followed by the end of its lease.
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
