-- Included by the scripts of the read-write lock, after parts/server-time.lua. `keys` are the keys of one lock.
-- `prefix` is the prefix of its timeout keys.
--
-- `lock`     hash: `mode` -> read or write, reader -> hold count, `<owner>:write` -> hold count of the writer.
-- `<prefix>:<reader>:rwlock_timeout:<n>`   string with an expiry: the lease of the n-th hold of a reader. Redisson
--            writes such a key for each hold, with the value 1. Holdfast writes only the key for n = 1. Its value is
--            the server time in µs when the reader got the lock.
-- `readers`  zset: client -> the server time in µs at which its wait to read began.
-- `writers`  zset: the queue of the waiters that exclude each other: member -> the server time in µs at which its wait
--            began. The member is the client if it waits to write, and `<client>:upgradable` if it waits for the
--            upgradable lock. If an owner already holds another side of the lock, the member is the owner, in either
--            queue. The score of an owner that holds the upgradable lock and waits to write is 3.
-- `alive`    hash: member of either queue -> the server time in ms until which its place counts.
-- `phase`    string with an expiry, set if readers wait when a write hold ends. While it exists, no plain reader waits
--            for the queue of the writers. It is deleted when no reader waits any more.

-- If a lock has no field `mode`, it is not a read-write lock.
local OTHER_LOCK = 'WRONGTYPE a lock that is no read-write lock has this name'

-- The score of an owner that holds the upgradable lock and waits to write. Other scores are times, so this owner comes
-- before all other members.
local GOES_ON = '3'

local function isWriter(field)
  return string.sub(field, -6) == ':write'
end

-- Returns the remaining time of a reader's lease in ms; -1 means no expiry, and -2 means that the lease has expired.
local function readerTtlMs(keys, reader, count)
  local longestMs = -2
  for n = 1, tonumber(count) or 1 do
    local ttlMs = redis.call('PTTL', keys.prefix .. ':' .. reader .. ':rwlock_timeout:' .. n)
    longestMs = math.max(longestMs, ttlMs)
  end
  return longestMs
end

local function leaseKey(keys, reader)
  return keys.prefix .. ':' .. reader .. ':rwlock_timeout:1'
end

local function lease(keys, reader, leaseMs)
  redis.call('SET', leaseKey(keys, reader), serverTimeText(), 'PX', leaseMs)
end

-- Makes an existing lease longer. PEXPIRE keeps the value, and a server with full memory accepts PEXPIRE, but not SET.
local function lengthen(keys, reader, leaseMs)
  redis.call('PEXPIRE', leaseKey(keys, reader), leaseMs)
end

-- True if this owner or this member of a queue belongs to the upgradable lock.
local UPGRADABLE = ':upgradable'
local function isUpgradable(field)
  return string.sub(field, -11) == UPGRADABLE
end

local function hasUpgradable(keys)
  local fields = redis.call('HGETALL', keys.lock)
  for i = 1, #fields, 2 do
    if isUpgradable(fields[i]) and readerTtlMs(keys, fields[i], fields[i + 1]) ~= -2 then
      return true
    end
  end
  return false
end

local function prolong(keys, leaseMs)
  local ttlMs = redis.call('PTTL', keys.lock)
  if ttlMs ~= -1 and ttlMs - leaseMs < 0 then
    redis.call('PEXPIRE', keys.lock, leaseMs)
  end
end

-- True for a reader of Redisson that has re-entered the lock. Owners of Redisson begin with a UUID. For such a reader,
-- Redisson before version 4 renews only the lock, so the lease of the lock counts.
local function isRenewedWithLock(reader, count)
  return count ~= '1' and string.match(reader, '^%x%x%x%x%x%x%x%x%-%x%x%x%x%-') ~= nil
end

-- Removes the readers whose leases have expired. Returns the number of the other holders. Deletes a lock without
-- holders. For a lock without a writer, may shorten the expiry of the key.
local function dropDead(keys)
  local fields = redis.call('HGETALL', keys.lock)
  local left, longestMs, hasWriter = 0, -2, false
  for i = 1, #fields, 2 do
    local field, count = fields[i], fields[i + 1]
    if isWriter(field) then
      left, hasWriter = left + 1, true
    elseif field ~= 'mode' then
      local ttlMs = readerTtlMs(keys, field, count)
      if isRenewedWithLock(field, count) then
        ttlMs = redis.call('PTTL', keys.lock)
      end
      if ttlMs == -2 then
        redis.call('HDEL', keys.lock, field)
      else
        left, longestMs = left + 1, math.max(longestMs, ttlMs)
      end
    end
  end
  if left == 0 and #fields > 0 then
    redis.call('DEL', keys.lock)
  elseif not hasWriter and longestMs > 0 and redis.call('PTTL', keys.lock) > longestMs then
    redis.call('PEXPIRE', keys.lock, longestMs)
  end
  return left
end

-- A lock with at most 8 holders is checked completely. In a larger lock, 4 random fields are checked first.
local FEW = 8
local SAMPLE = 4

-- Returns the number of holders. For more than 8 holders, the result may be 2 instead. Removes the expired readers that
-- it finds. Usually checks only a few of many readers, so that a release beside 10,000 readers is as fast as a release
-- beside ten.
--
-- If at most one of the few readers is alive, all readers are checked, and every expired reader is removed.
--
-- Redisson's waiters sleep until the lock key expires. If this key lives much longer than the leases of the few
-- readers, some calls check all readers. The check of all readers may shorten the expiry of the key.
local function countHolders(keys)
  local size = redis.call('HLEN', keys.lock) - 1
  if size <= FEW then
    return dropDead(keys)
  end
  local found = redis.call('HRANDFIELD', keys.lock, SAMPLE, 'WITHVALUES')
  local alive, longestMs = 0, 0
  for i = 1, #found, 2 do
    local reader, count = found[i], found[i + 1]
    if reader ~= 'mode' then
      local ttlMs = readerTtlMs(keys, reader, count)
      if ttlMs ~= -2 then
        alive, longestMs = alive + 1, math.max(longestMs, ttlMs)
      elseif not isRenewedWithLock(reader, count) then
        redis.call('HDEL', keys.lock, reader)
      end
    end
  end
  local isTooLong = redis.call('PTTL', keys.lock) > longestMs * 2 + 1000
  if alive > 1 and not (isTooLong and serverTimeUs() % size < SAMPLE) then
    return 2
  end
  return dropDead(keys)
end

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

-- True if a reader must wait for the first member of the queue of the writers. A plain reader waits if this member
-- wants to write, except during the phase for waiting readers. A reader that wants the upgradable lock waits if another
-- member is first.
local function isShut(keys, owner, place)
  local first = firstOf(keys, keys.writers)
  if not first or isUpgradable(owner) then
    return first and first ~= place
  end
  return not isUpgradable(first) and redis.call('EXISTS', keys.phase) == 0
end

-- Wakes the next waiters. The message '2' wakes all waiting readers. Any other message is the score of the first member
-- of the queue of the writers. The message wakes only this member, because all other members have other scores.
-- Redisson's clients ignore both messages. `left` is the number of holders; no holder writes.
local function tellNext(keys, publish, channel, left, areReadersFirst, phaseMs)
  local first, sinceUs = firstOf(keys, keys.writers)
  local waitsToWrite = first and not isUpgradable(first)
  local areReadersNext = firstOf(keys, keys.readers)
    and (areReadersFirst or not waitsToWrite or redis.call('EXISTS', keys.phase) == 1)
  if areReadersNext then
    -- The phase begins even if no writer waits, because a new writer must not overtake these readers.
    if areReadersFirst then
      redis.call('SET', keys.phase, '1', 'PX', phaseMs)
    end
    redis.call(publish, channel, '2')
  end
  local isAlone = left == 0 or left == 1 and sinceUs == GOES_ON
  if first and (not waitsToWrite or isAlone and not areReadersNext) then
    redis.call(publish, channel, sinceUs)
  end
end

-- Called when the lock becomes free, or when a writer becomes a reader. The messages '00' and '01' are for Redisson's
-- clients, which read them as 0 and 1. Waiters of Holdfast ignore these messages. Callers of Holdfast that only watch
-- for a release react to all messages.
local function wake(keys, publish, channel, left, wasWritten, phaseMs)
  local told = redis.call(publish, channel, wasWritten and '01' or '00')
  -- The script wakes waiters even if `told` is 0, because a node of a cluster counts only its own listeners.
  tellNext(keys, publish, channel, left, wasWritten, phaseMs)
  return told
end
