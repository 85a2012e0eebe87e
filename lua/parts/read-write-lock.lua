-- Included by the scripts of the read-write lock, after parts/server-time.lua. `keys` are those of one lock;
-- `prefix` is what the names of its timeout keys begin with.
--
-- lock     hash: `mode` -> read or write, reader -> hold count, `<owner>:write` -> hold count of the writer
-- <prefix>:<reader>:rwlock_timeout:<n>   string with an expiry: the lease of the n-th hold of a reader. Redisson
--          has one for each, with the value 1. Ours have the first alone: its value is the server's time in µs when
--          the reader got the lock
-- readers  zset: client -> since when somebody of it waits to read, server time in µs
-- writers  zset: the queue of those who exclude each other, with the same times: a client that waits to write, and
--          `<client>:upgradable` for the upgradable lock. An owner that has the lock as another kind is in one of the two
--          under its own name; with 3 if it has the upgradable lock and waits to write
-- alive    hash: member of either -> until when that counts, server time in ms
-- phase    string with an expiry: there while those are let in who waited to read when a writer left

-- A lock that is no read-write lock has no mode.
local OTHER_LOCK = 'WRONGTYPE a lock that is no read-write lock has this name'

-- Instead of the time, if the client has the upgradable lock and waits to write: it goes before all others.
local GOES_ON = '3'

local function isWriter(field)
  return string.sub(field, -6) == ':write'
end

-- What is left of a reader's lease; -2 for one whose time ran out.
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

-- A lease that is there already: a full server refuses SET, and the value has to stay.
local function lengthen(keys, reader, leaseMs)
  redis.call('PEXPIRE', leaseKey(keys, reader), leaseMs)
end

-- An owner that has, or a member of the queue that waits for, the upgradable lock.
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

-- Redisson before 4 does not renew the leases of a reader that has re-entered, but the lock alone. Its owners
-- begin with a UUID.
local function isRenewedWithLock(reader, count)
  return count ~= '1' and string.match(reader, '^%x%x%x%x%x%x%x%x%-%x%x%x%x%-') ~= nil
end

-- Takes out readers whose time ran out. Returns how many have the lock then.
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

-- So many holds are looked at one by one. If there are more, so many of them are.
local FEW = 8
local SAMPLE = 4

-- How many have the lock: 0, 1, or 2 for several. The dead that it comes across are taken out.
-- Among many readers it looks at a few at random, so that a release costs the same beside 10,000 as beside ten. It looks
-- at all of them if hardly any of the few is alive: the dead are then taken out, and each only once. It also does so now
-- and then if the lock lasts much longer than their leases, because Redisson's waiters go by the expiry of the lock.
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

-- Nobody counts for longer than this. It is further ahead where the clock was set back: of the dead too.
local MOST_AHEAD_MS = 10000

-- Until when that counts of a client; nothing where it does not count any more.
local function markOf(keys, client, nowMs)
  local untilMs = redis.call('HGET', keys.alive, client)
  if untilMs and untilMs - nowMs >= 0 and untilMs - nowMs <= MOST_AHEAD_MS then
    return untilMs
  end
end

-- Those of the first so many who still wait, and since when.
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

-- Who of them has waited for the longest and still does; since when, and for how much longer that counts.
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

-- As what that owner waits, and in which queue; '' if it does not wait. `beside` is the name under which it has the lock
-- as another kind.
local function placeOf(keys, client, owner, beside)
  local queue = (isWriter(owner) or isUpgradable(owner)) and keys.writers or keys.readers
  if client == '' or beside == '' then
    return client ~= '' and isUpgradable(owner) and client .. UPGRADABLE or client, queue
  end
  return owner, queue
end

-- That member waits in that queue, until its next request or for aliveMs. It keeps its place there.
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

-- That member waits in that queue no more. Returns whether it did.
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

-- Whether a reader has to wait behind the first of the queue. A plain reader waits if that one waits to write, unless
-- readers are being let in. The upgradable lock is had in the order of the queue.
local function isShut(keys, owner, place)
  local first = firstOf(keys, keys.writers)
  if not first or isUpgradable(owner) then
    return first and first ~= place
  end
  return not isUpgradable(first) and redis.call('EXISTS', keys.phase) == 0
end

-- Tells those who are next. All who wait to read are told '2', and the first of the queue is told the time since when it
-- waits. Nobody else takes notice: ours compare texts, and Redisson's read numbers.
-- `left` is how many have the lock, of whom nobody writes.
local function tellNext(keys, publish, channel, left, areReadersFirst, phaseMs)
  local first, sinceUs = firstOf(keys, keys.writers)
  local waitsToWrite = first and not isUpgradable(first)
  local areReadersNext = firstOf(keys, keys.readers)
    and (areReadersFirst or not waitsToWrite or redis.call('EXISTS', keys.phase) == 1)
  if areReadersNext then
    -- Even if nobody waits to write yet: one who comes before them would be the second writer that they wait for.
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

-- The lock is free, or free to read after it was written. '00' and '01' are for those of Redisson: to whom they
-- are the numbers of a release, and which ours take no notice of.
local function wake(keys, publish, channel, left, wasWritten, phaseMs)
  local told = redis.call(publish, channel, wasWritten and '01' or '00')
  -- Also where nobody was told: a node of a cluster counts its own listeners alone.
  tellNext(keys, publish, channel, left, wasWritten, phaseMs)
  return told
end
