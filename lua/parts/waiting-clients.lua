-- Included after parts/server-time.lua. Handles the clients that wait for permits, in the order in which they began to
-- wait. Each client has one place: the place of its waiter that has waited longest.
--
-- `queue`  zset: client -> the server time in µs at which its wait began.
-- `alive`  hash: client -> the server time in ms until which its place counts, and how many permits its first waiter
--          wants.

-- Returns when the wait of a client began, in µs: the time of an earlier answer, or now minus the waiting time. If the
-- earlier time is ahead of now, the clock was set back. Then the earlier time is ignored, because each later client
-- would overtake this client.
local function sinceOf(toldUs, waitedMs)
  local told = tonumber(toldUs)
  if told and told <= serverTimeUs() then
    return told
  end
  return math.floor(serverTimeUs() - waitedMs * 1000)
end

-- 10 s, the longest time for which a place counts. If a place ends later, the clock was set back. Then the place does
-- not count, because its client may be gone.
local MOST_AHEAD_MS = 10000

-- Returns the server time in ms until which the place of a client counts, and how many permits its first waiter wants.
-- Returns nothing if the place does not count any more.
local function markOf(keys, client, nowMs)
  local untilMs, permits = string.match(redis.call('HGET', keys.alive, client) or '', '^(%d+) (%d+)$')
  if untilMs and untilMs - nowMs >= 0 and untilMs - nowMs <= MOST_AHEAD_MS then
    return untilMs, permits
  end
end

-- Reads the first `most` clients, and returns two lists about the clients whose places still count. The first list has
-- each client and when its wait began, in µs. The second list has each client and how many permits it wants.
local function listWaiting(keys, most)
  local nowMs = serverTimeUs() / 1000
  local found = most > 0 and redis.call('ZRANGE', keys.queue, 0, most - 1, 'WITHSCORES') or {}
  local waiting, wanted = {}, {}
  for i = 1, #found, 2 do
    local _, permits = markOf(keys, found[i], nowMs)
    if permits then
      waiting[#waiting + 1] = found[i]
      waiting[#waiting + 1] = found[i + 1]
      wanted[#wanted + 1] = found[i]
      wanted[#wanted + 1] = permits
    end
  end
  return waiting, wanted
end

-- Returns the first client whose place still counts. Also returns when its wait began, in µs, how many permits it
-- wants, and until when its place counts, in ms. Removes the clients before this client.
local function firstOf(keys)
  local nowMs = serverTimeUs() / 1000
  for _ = 1, 1000 do
    local found = redis.call('ZRANGE', keys.queue, 0, 0, 'WITHSCORES')
    local client = found[1]
    if not client then
      return nil
    end
    local untilMs, permits = markOf(keys, client, nowMs)
    if untilMs then
      return client, tonumber(found[2]), tonumber(permits), tonumber(untilMs)
    end
    redis.call('ZREM', keys.queue, client)
    redis.call('HDEL', keys.alive, client)
  end
end

-- True if no client has waited longer than this client. If the caller does not wait, the client is '', and the result
-- is true if no client waits.
local function isNext(keys, client, sinceUs)
  local first, firstUs = firstOf(keys)
  if first == client and firstUs - sinceUs < 0 then
    -- The stored time belongs to an earlier waiter of this client. The waiter of this request began to wait later, so
    -- another client may be next.
    redis.call('ZADD', keys.queue, string.format('%.0f', sinceUs), client)
    first, firstUs = firstOf(keys)
  end
  return not first or client ~= '' and (first == client or firstUs - sinceUs > 0)
end

local function waitsUntil(keys, client, permits, forMs)
  local untilMs = string.format('%.0f', serverTimeUs() / 1000 + forMs)
  redis.call('HSET', keys.alive, client, untilMs .. ' ' .. permits)
end

-- Stores that a client waits. Its place then counts for `aliveMs` from now.
local function waits(keys, client, sinceUs, permits, aliveMs)
  redis.call('ZADD', keys.queue, string.format('%.0f', sinceUs), client)
  waitsUntil(keys, client, permits, aliveMs)
  redis.call('PEXPIRE', keys.queue, aliveMs * 2)
  redis.call('PEXPIRE', keys.alive, aliveMs * 2)
end

-- Removes the place of a client that has no waiters any more.
local function waitsNoMore(keys, client)
  if redis.call('HDEL', keys.alive, client) == 1 then
    redis.call('ZREM', keys.queue, client)
  end
end

-- Called when a waiter of a client has its permits, or wants more permits than exist. If this was the last waiter of the
-- client, removes the place. Otherwise the next waiter asks soon, so the place counts for `forMs` from now.
local function wentOn(keys, client, isLast, forMs)
  if isLast then
    waitsNoMore(keys, client)
  elseif redis.call('ZSCORE', keys.queue, client) then
    waitsUntil(keys, client, 1, forMs)
  end
end

-- Called when the waiter of `call` has its permits. If too few permits are available for the next waiter in `call`,
-- gives the place of the client to this next waiter. Returns since when the next waiter waits, in µs. Returns nil if
-- there is no next waiter, or if enough permits are available for it, so it must ask at once. In both cases, a client
-- without a place does not get a place, because this place would make other clients wait.
local function goesOn(keys, call, available)
  local client, permits = call.client, call.behindPermits
  if permits <= available or permits == 0 then
    wentOn(keys, client, call.isLast, call.aliveMs)
    return nil
  end
  local sinceUs = sinceOf('', call.behindWaitedMs)
  waits(keys, client, sinceUs, permits, call.aliveMs)
  return sinceUs
end

-- Wakes the client that is next, if enough permits are available for its first waiter. Does not wake `exceptClient`.
local function tellNext(keys, publish, tickets, available, exceptClient)
  if available <= 0 then
    return
  end
  local client, _, permits = firstOf(keys)
  if client and client ~= exceptClient and permits <= available then
    redis.call(publish, tickets, client)
  end
end

-- Informs Redisson's clients how many permits are available. Redisson's clients read the message as a number. Clients
-- of Holdfast ignore this message, because it begins with 0.
local function tellOthers(publish, channel, available)
  redis.call(publish, channel, '0' .. math.max(available, 0))
end
