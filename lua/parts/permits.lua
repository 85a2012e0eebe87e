-- Included after parts/server-time.lua. Permits that are taken for a time. `keys` are those of one semaphore.
--
-- pool      string: how many are available; below 0 where fewer were set than are taken
-- timeouts  zset: id of a permit, 16 bytes -> until when it is taken, server time in ms; of one that was taken by
--           Redisson without a lease FOREVER

local FOREVER = 922337203685477

-- So many ids go with one command: Lua passes no more than about 8,000 values.
local AT_ONCE = 1000

local function nowInMs()
  return math.floor(serverTimeUs() / 1000)
end

-- Those whose time ran out are available again. Returns how many they are.
local function giveBackExpired(keys)
  local expired = redis.call('ZREMRANGEBYSCORE', keys.timeouts, '-inf', nowInMs())
  if expired > 0 then
    redis.call('INCRBY', keys.pool, expired)
  end
  return expired
end

-- How many permits an owner takes: its name ends with that.
local function permitsOf(owner)
  return tonumber(string.match(owner, '%d+$'))
end

-- Calls `work` with the ids of the owner's permits, some at a time: each is the beginning of the hash of its
-- name, and a number.
local function eachOf(owner, work)
  local permits = permitsOf(owner)
  local hex = string.sub(redis.sha1hex(owner), 1, 24)
  local head = string.gsub(hex, '..', function(byte)
    return string.char(tonumber(byte, 16))
  end)
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
