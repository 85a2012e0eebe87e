-- Included after parts/server-time.lua. Permits with leases. `keys` are the keys of one semaphore.
--
-- `pool`      string: how many permits are available; below 0 if more permits are taken than the semaphore has.
-- `timeouts`  zset: id of a permit, 16 bytes -> the server time in ms at which its lease ends. FOREVER means that
--             Redisson took the permit without a lease.
-- `holders`   hash with an expiry: the first 24 hex digits of the ids of an acquisition -> its owner and
--             server time in µs. An entry without a permit in `timeouts` does not count.

local FOREVER = 922337203685477

-- The most ids in one command. Lua passes at most about 8,000 values.
local AT_ONCE = 1000

local function nowInMs()
  return math.floor(serverTimeUs() / 1000)
end

-- Returns the first 24 hex digits of an id, which all ids of one acquisition share.
local function headIn(id)
  return string.format('%08x%08x%08x', struct.unpack('>I4I4I4', id))
end

-- Converts hex digits to bytes. The number of digits is a multiple of eight.
local function bytesOf(hex)
  return (string.gsub(hex, '........', function(word)
    return struct.pack('>I4', tonumber(word, 16))
  end))
end

-- Returns the first 12 bytes of the permit ids of an owner, as bytes and as hex digits. These bytes are the beginning
-- of the SHA-1 hash of the owner's name.
local knownOwner, knownHead, knownHex
local function headOf(owner)
  if knownOwner ~= owner then
    knownOwner, knownHex = owner, string.sub(redis.sha1hex(owner), 1, 24)
    knownHead = bytesOf(knownHex)
  end
  return knownHead, knownHex
end

-- Makes expired permits available, and returns their number.
local function giveBackExpired(keys)
  local expired = redis.call('ZCOUNT', keys.timeouts, '-inf', nowInMs())
  if expired == 0 then
    return 0
  end
  for from = 1, expired, AT_ONCE do
    local ids = redis.call('ZRANGE', keys.timeouts, 0, math.min(AT_ONCE, expired - from + 1) - 1)
    redis.call('ZREM', keys.timeouts, unpack(ids))
    for i, id in ipairs(ids) do
      ids[i] = headIn(id)
    end
    -- No permit depends on the stored owner, so an error of `holders` is ignored.
    redis.pcall('HDEL', keys.holders, unpack(ids))
  end
  redis.call('INCRBY', keys.pool, expired)
  return expired
end

-- Returns the number of permits that an owner wants, which is the end of the owner's name.
local function permitsOf(owner)
  return tonumber(string.match(owner, '%d+$'))
end

-- Calls `work` with the permit ids of an owner, at most 1,000 at a time. An id consists of the head of the owner and a
-- number.
local function eachOf(owner, work)
  local permits = permitsOf(owner)
  local head = headOf(owner)
  for first = 1, permits, AT_ONCE do
    local ids = {}
    for i = first, math.min(first + AT_ONCE - 1, permits) do
      ids[#ids + 1] = head .. struct.pack('>I4', i)
    end
    work(ids)
  end
end

-- Returns how many of its permits an owner holds, and the earliest end of their leases, as server time in ms.
local function takenBy(keys, owner)
  local taken, untilMs = 0, nil
  eachOf(owner, function(ids)
    for _, score in ipairs(redis.call('ZMSCORE', keys.timeouts, unpack(ids))) do
      if score then
        local endMs = tonumber(score)
        taken, untilMs = taken + 1, math.min(untilMs or endMs, endMs)
      end
    end
  end)
  return taken, untilMs
end

-- Takes the permits of an owner until `untilMs`. If `only` is true, only lengthens the leases of permits that the owner
-- already holds.
local function take(keys, owner, untilMs, only)
  local text = string.format('%.0f', untilMs)
  eachOf(owner, function(ids)
    local pairs = {}
    for _, id in ipairs(ids) do
      pairs[#pairs + 1] = text
      pairs[#pairs + 1] = id
    end
    if only then
      redis.call('ZADD', keys.timeouts, 'XX', 'GT', unpack(pairs))
    else
      redis.call('ZADD', keys.timeouts, unpack(pairs))
    end
  end)
end
