-- Included by the scripts of the count-down latch, after parts/server-time.lua and parts/kind.lua.
--
-- `latch`  string: the remaining count, as Redisson stores it; missing if the latch is open.
-- `round`  string with an expiry: the server time in µs at which the count was set. This is the number of the round.
--          Redisson does not write this key, so the key can be missing, or belong to an earlier count.

-- 30 days. If Redisson opens the latch, it does not delete this key, so the key must expire.
local ROUND_MS = 2592000000

-- Returns the count, or false if no count is set. Returns an error, which is a table, if the key is not a count or a
-- semaphore has the name.
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

-- True if a call is not meant for the round that began at `setUs`. A call can name its round. Any other call is not
-- meant for a round that began after the call. If `setUs` is ahead of now, the clock was set back. Then the result is
-- false, because the times prove nothing.
local function isOfOtherRound(setUs, ownRound, askedUs)
  if ownRound then
    return setUs ~= ownRound
  end
  return setUs and askedUs > 0 and tonumber(setUs) > askedUs and tonumber(setUs) <= serverTimeUs()
end
