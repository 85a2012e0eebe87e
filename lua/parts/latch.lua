-- Included by the scripts of the count-down latch, after parts/server-time.lua and parts/kind.lua.
--
-- `latch`  string: the remaining count, as Redisson stores it; missing if the latch is open.
-- `round`  string with an expiry: the server time in µs at which the count was set. This is the number of the round.
--          Redisson does not write this key, so the key can be missing, or belong to an earlier count.

-- 30 days. The key must expire, because Redisson opens the latch without deleting this key.
local ROUND_MS = 2592000000

-- Returns the count, or false without a count. Returns an error, which is a table, if a semaphore has the name or the
-- value is not a count.
local function countOf(latch, kind)
  local count, refusal = numberOf(latch, kind, 'latch')
  if not count then
    return refusal or false
  end
  if not string.match(count, '^%-?%d+$') then
    return redis.error_reply('WRONGTYPE a key that is no count has this name')
  end
  return tonumber(count)
end

-- True if a call is not meant for the round that began at `setUs`. A call with `ownRound` is meant for that round. Any
-- other call is meant for a round that began before the call. For such a call, a `setUs` ahead of now does not count,
-- because the clock was set back.
local function isOfOtherRound(setUs, ownRound, askedUs)
  if ownRound then
    return setUs ~= ownRound
  end
  return setUs and askedUs > 0 and tonumber(setUs) > askedUs and tonumber(setUs) <= serverTimeUs()
end
