-- Included by the scripts of the cyclic barrier, after parts/server-time.lua.
--
-- `barrier`  zset with an expiry: the arrivals of the current round. The score is the server time in ms at which the
--            lease of the arrival ends.
-- `state`    hash with an expiry: `round`, the server time in µs when the current or last round began, and `parties`.
-- `settled`  zset with an expiry: `=<id>` for an arrival whose round is over, `-<id>` for a withdrawn arrival. The
--            score is the server time in ms until which the entry is stored.

-- 10 minutes. A client usually requests the outcome of its arrival within this time, even after an outage.
local SETTLED_MS = 600000

local function nowMs()
  return math.floor(serverTimeUs() / 1000)
end

local function expiry(ms)
  return string.format('%.0f', ms)
end

-- Returns 'passed' if the round of an arrival is over, 'left' if the arrival was withdrawn, and nil otherwise. The
-- ZSCORE only checks the type of the key. The ZREM removes nothing, but makes a replica refuse the script. A replica
-- may not have received the arrival yet.
local function outcomeOf(barrier, settled, id)
  redis.call('ZSCORE', barrier, id)
  redis.call('ZREM', settled, '')
  local scores = redis.call('ZMSCORE', settled, '=' .. id, '-' .. id)
  return scores[1] and 'passed' or scores[2] and 'left' or nil
end

-- Stores the same outcome for several arrivals, and deletes expired outcomes.
local function settle(settled, mark, ids)
  local untilMs = nowMs() + SETTLED_MS
  redis.call('ZREMRANGEBYSCORE', settled, '-inf', expiry(nowMs()))
  for _, id in ipairs(ids) do
    redis.call('ZADD', settled, expiry(untilMs), mark .. id)
  end
  redis.call('PEXPIREAT', settled, expiry(untilMs))
end

-- Removes the arrivals whose leases have ended, and returns the number of the other arrivals.
local function arrivedAt(barrier)
  redis.call('ZREMRANGEBYSCORE', barrier, '-inf', '(' .. expiry(nowMs()))
  return redis.call('ZCARD', barrier)
end
