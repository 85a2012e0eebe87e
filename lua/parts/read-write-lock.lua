-- Included by the scripts of the read-write lock, after parts/server-time.lua. `keys` are those of one lock;
-- `prefix` is what the names of its timeout keys begin with.
--
-- lock     hash: `mode` -> read or write, reader -> hold count, `<owner>:write` -> hold count of the writer
-- <prefix>:<reader>:rwlock_timeout:<n>   string with an expiry: the lease of the n-th hold of a reader. Redisson
--          has one for each; ours have the first alone
-- readers  zset: client -> since when somebody of it waits to read, server time in µs
-- writers  zset: client -> the same for who waits to write; 3 for one that reads and is to go on to write
-- alive    hash: client of either -> until when that counts, server time in ms
-- phase    string with an expiry: there while those are let in who waited to read when a writer left

-- A lock that is no read-write lock has no mode.
local OTHER_LOCK = 'WRONGTYPE a lock that is no read-write lock has this name'

-- Instead of the time, of one that reads and is to go on to write.
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

local function lease(keys, reader, leaseMs)
  redis.call('SET', keys.prefix .. ':' .. reader .. ':rwlock_timeout:1', '1', 'PX', leaseMs)
end

-- The same of one that has a lease: a full server refuses SET.
local function lengthen(keys, reader, leaseMs)
  redis.call('PEXPIRE', keys.prefix .. ':' .. reader .. ':rwlock_timeout:1', leaseMs)
end

-- One who reads and may go on to write.
local function isUpgradable(field)
  return string.sub(field, -11) == ':upgradable'
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

-- So many are looked at one by one.
local FEW = 32

-- Whether more than one reads of more than a few, as some of them tell: when all of many leave, each need not look
-- at all others. Where the longest lease has ended, one of those is to last for as long.
local function isReadByMany(keys, hasLongestEnded)
  if redis.call('HLEN', keys.lock) <= FEW then
    return false
  end
  local longestMs = redis.call('PTTL', keys.lock)
  local alive, isAsLong = 0, not hasLongestEnded
  for _, field in ipairs(redis.call('HRANDFIELD', keys.lock, 8)) do
    local ttlMs = field == 'mode' and -2 or readerTtlMs(keys, field, 1)
    alive = alive + (ttlMs == -2 and 0 or 1)
    isAsLong = isAsLong or ttlMs ~= -2 and longestMs - ttlMs < 100
  end
  return alive > 1 and isAsLong
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

-- Somebody of that client waits in that queue, until its next request or for aliveMs. It keeps its place there,
-- but for one that reads and is to go on to write: that place is its own.
local function waits(keys, client, queue, sinceUs, aliveMs)
  local found = redis.call('ZSCORE', queue, client)
  if not found or (found == GOES_ON) ~= (sinceUs == GOES_ON) then
    redis.call('ZADD', queue, sinceUs, client)
  end
  local untilMs = string.format('%.0f', serverTimeUs() / 1000 + aliveMs)
  redis.call('HSET', keys.alive, client, untilMs)
  for _, key in ipairs({ queue, keys.alive }) do
    if redis.call('PTTL', key) - aliveMs * 2 < 0 then
      redis.call('PEXPIRE', key, aliveMs * 2)
    end
  end
end

-- Nobody of that client waits in that queue any more: each is in one of them.
local function waitsNoMore(keys, client, queue)
  if client ~= '' and redis.call('ZREM', queue, client) == 1 then
    redis.call('HDEL', keys.alive, client)
    if redis.call('EXISTS', keys.readers) == 0 then
      redis.call('DEL', keys.phase)
    end
  end
end

-- Whether readers are to wait for a writer who waits.
local function isShut(keys)
  return redis.call('EXISTS', keys.writers) == 1
    and redis.call('EXISTS', keys.phase) == 0
    and firstOf(keys, keys.writers) ~= nil
end

-- Tells those who are next: all who wait to read, by '2'; or the one writer who has waited for the longest, by
-- the time since then. Nobody else takes notice: others of ours compare texts, and those of Redisson numbers.
local function tellNext(keys, publish, channel, isRead, areReadersFirst, phaseMs)
  local reader = firstOf(keys, keys.readers)
  local writer, sinceUs = firstOf(keys, keys.writers)
  if reader and (areReadersFirst or not writer or redis.call('EXISTS', keys.phase) == 1) then
    -- Also where no writer waits yet: one who comes before them would be the second that they wait for.
    if areReadersFirst then
      redis.call('SET', keys.phase, '1', 'PX', phaseMs)
    end
    redis.call(publish, channel, '2')
  elseif writer and not isRead then
    redis.call(publish, channel, sinceUs)
  end
end

-- The lock is free, or free to read after it was written. '00' and '01' are for those of Redisson: to whom they
-- are the numbers of a release, and which ours take no notice of.
local function wake(keys, publish, channel, wasWritten, isRead, phaseMs)
  local told = redis.call(publish, channel, wasWritten and '01' or '00')
  -- Also where nobody was told: a node of a cluster counts its own listeners alone.
  tellNext(keys, publish, channel, isRead, wasWritten, phaseMs)
  return told
end
