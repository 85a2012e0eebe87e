-- Included after parts/read-write-leases.lua. The queues of the readers and of the writers, and the places in them.

-- 10 s, the longest time for which a place counts. If a place ends later, the clock was set back. Then the place does
-- not count, because its client may be gone.
local MOST_AHEAD_MS = 10000

-- Returns the server time in ms until which the place of a member counts. Returns nothing if the place no longer
-- counts.
local function markOf(keys, client, nowMs)
  local untilMs = redis.call('HGET', keys.alive, client)
  if untilMs and untilMs - nowMs >= 0 and untilMs - nowMs <= MOST_AHEAD_MS then
    return untilMs
  end
end

-- Reads the first `most` members of a queue. Returns the members whose places still count, each followed by the server
-- time in µs at which its wait began.
local function listWaiting(keys, queue, most)
  local nowMs = serverTimeUs() / 1000
  local found = most > 0 and redis.call('ZRANGE', queue, 0, most - 1, 'WITHSCORES') or {}
  local waiting = {}
  for i = 1, #found, 2 do
    if markOf(keys, found[i], nowMs) then
      waiting[#waiting + 1] = found[i]
      waiting[#waiting + 1] = found[i + 1]
    end
  end
  return waiting
end

-- Returns the first member of a queue whose place still counts. Also returns when its wait began, as server time in µs,
-- and for how many ms its place still counts. Removes the members before this member.
local function firstOf(keys, queue)
  local nowMs = serverTimeUs() / 1000
  for _ = 1, 1000 do
    local found = redis.call('ZRANGE', queue, 0, 0, 'WITHSCORES')
    local client = found[1]
    if not client then
      return nil
    end
    local untilMs = markOf(keys, client, nowMs)
    if untilMs then
      return client, found[2], math.ceil(untilMs - nowMs)
    end
    redis.call('ZREM', queue, client)
    redis.call('HDEL', keys.alive, client)
  end
end

-- Returns the name under which an owner waits, and its queue. The name is '' if the owner does not wait. `beside` is
-- the name under which the owner holds another side of the lock.
local function placeOf(keys, client, owner, beside)
  local queue = (isWriter(owner) or isUpgradable(owner)) and keys.writers or keys.readers
  if client == '' or beside == '' then
    return client ~= '' and isUpgradable(owner) and client .. UPGRADABLE or client, queue
  end
  return owner, queue
end

-- Stores that a member waits. Its place counts for `aliveMs` from now. A member that already waits keeps its position.
local function waits(keys, member, queue, sinceUs, aliveMs)
  redis.call('ZADD', queue, 'NX', sinceUs, member)
  local untilMs = string.format('%.0f', serverTimeUs() / 1000 + aliveMs)
  redis.call('HSET', keys.alive, member, untilMs)
  for _, key in ipairs({ queue, keys.alive }) do
    if redis.call('PTTL', key) - aliveMs * 2 < 0 then
      redis.call('PEXPIRE', key, aliveMs * 2)
    end
  end
end

-- Removes a member from a queue. Returns true if the member waited there. If no reader waits any more, ends the phase
-- for waiting readers.
local function waitsNoMore(keys, member, queue)
  local didWait = member ~= '' and redis.call('ZREM', queue, member) == 1
  if didWait then
    redis.call('HDEL', keys.alive, member)
    if redis.call('EXISTS', keys.readers) == 0 then
      redis.call('DEL', keys.phase)
    end
  end
  return didWait
end
