-- Included after parts/server-time.lua. Clients in which somebody waits for permits, in the order in which
-- they began: each has one place, that of the one of its waiters who has waited for the longest.
--
-- queue  zset: client -> since when it waits, server time in µs
-- alive  hash: client -> until when that counts, server time in ms, and how many permits are wanted

-- Since when somebody has waited: as it was told before, or so long before now. It is ahead of now where the clock was
-- set back since: whoever comes would be before it.
local function sinceOf(toldUs, waitedMs)
  local told = tonumber(toldUs)
  if told and told <= serverTimeUs() then
    return told
  end
  return math.floor(serverTimeUs() - waitedMs * 1000)
end

-- Nobody counts for longer than this. It is further ahead where the clock was set back: of the dead too.
local MOST_AHEAD_MS = 10000

-- Until when that counts of a client, and how many permits are wanted; nothing where it does not count any more.
local function markOf(keys, client, nowMs)
  local untilMs, permits = string.match(redis.call('HGET', keys.alive, client) or '', '^(%d+) (%d+)$')
  if untilMs and untilMs - nowMs >= 0 and untilMs - nowMs <= MOST_AHEAD_MS then
    return untilMs, permits
  end
end

-- Those of the first so many who still wait: clients and since when; and the same clients and how many permits.
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

-- Who has waited for the longest and still does; since when, for how many permits, and until when that counts.
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

-- Whether nobody has waited for longer than this client has; '' is one that does not wait.
local function isNext(keys, client, sinceUs)
  local first, firstUs = firstOf(keys)
  if first == client and firstUs - sinceUs < 0 then
    -- Its place is that of one who has gone on: another client may have waited for longer than the one after it.
    redis.call('ZADD', keys.queue, string.format('%.0f', sinceUs), client)
    first, firstUs = firstOf(keys)
  end
  return not first or client ~= '' and (first == client or firstUs - sinceUs > 0)
end

local function waitsUntil(keys, client, permits, forMs)
  local untilMs = string.format('%.0f', serverTimeUs() / 1000 + forMs)
  redis.call('HSET', keys.alive, client, untilMs .. ' ' .. permits)
end

-- Somebody of that client waits, until its next request or for aliveMs.
local function waits(keys, client, sinceUs, permits, aliveMs)
  redis.call('ZADD', keys.queue, string.format('%.0f', sinceUs), client)
  waitsUntil(keys, client, permits, aliveMs)
  redis.call('PEXPIRE', keys.queue, aliveMs * 2)
  redis.call('PEXPIRE', keys.alive, aliveMs * 2)
end

-- Nobody of that client waits any more.
local function waitsNoMore(keys, client)
  if redis.call('HDEL', keys.alive, client) == 1 then
    redis.call('ZREM', keys.queue, client)
  end
end

-- One of that client has its permits. The next is about to ask: its place is kept for it so long.
local function wentOn(keys, client, isLast, forMs)
  if isLast then
    waitsNoMore(keys, client)
  elseif redis.call('ZSCORE', keys.queue, client) then
    waitsUntil(keys, client, 1, forMs)
  end
end

-- Tells the client that is next, where there is enough for it.
local function tellNext(keys, publish, tickets, available, but)
  if available <= 0 then
    return
  end
  local client, _, permits = firstOf(keys)
  if client and client ~= but and permits <= available then
    redis.call(publish, tickets, client)
  end
end

-- Tells Redisson's clients how many are to be had. They read a number; ours take no notice of one that begins
-- with 0, and have tickets.
local function tellOthers(publish, channel, available)
  redis.call(publish, channel, '0' .. math.max(available, 0))
end
