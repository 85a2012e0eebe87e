-- Included after parts/server-time.lua. Permits that are taken for a time. `keys` are those of one semaphore.
--
-- pool      string: how many are available; below 0 where fewer were set than are taken
-- timeouts  zset: id of a permit, 16 bytes -> until when it is taken, server time in ms; of one that was taken by
--           Redisson without a lease FOREVER
-- holders   hash with an expiry: 24 hex digits, which the ids of one acquisition share -> its owner, and since when
--           it has them, in µs. An entry without a permit in `timeouts` does not count

local FOREVER = 922337203685477

-- So many ids go with one command: Lua passes no more than about 8,000 values.
local AT_ONCE = 1000

local function nowInMs()
  return math.floor(serverTimeUs() / 1000)
end

-- What an id begins with, which all ids of one acquisition share, in hex digits.
local function headIn(id)
  return string.format('%08x%08x%08x', struct.unpack('>I4I4I4', id))
end

-- The bytes of hex digits, of which there are a multiple of eight.
local function bytesOf(hex)
  return (string.gsub(hex, '........', function(word)
    return struct.pack('>I4', tonumber(word, 16))
  end))
end

-- The head of the ids of an owner's permits, in bytes and in hex digits: the beginning of the hash of its name.
local knownOwner, knownHead, knownHex
local function headOf(owner)
  if knownOwner ~= owner then
    knownOwner, knownHex = owner, string.sub(redis.sha1hex(owner), 1, 24)
    knownHead = bytesOf(knownHex)
  end
  return knownHead, knownHex
end

-- The permits whose lease has ended are available again. Returns how many they are.
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
    -- No permit depends on who is noted for it: not on an error either.
    redis.pcall('HDEL', keys.holders, unpack(ids))
  end
  redis.call('INCRBY', keys.pool, expired)
  return expired
end

-- How many permits an owner takes: its name ends with that.
local function permitsOf(owner)
  return tonumber(string.match(owner, '%d+$'))
end

-- Calls `work` with the ids of the owner's permits, some at a time: each is the head, and a number.
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

-- How many of them the owner has, and until when the first of these is.
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

-- Takes them, or lets those that it has last until then: `only` is XX for these. None ends sooner than it would.
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
