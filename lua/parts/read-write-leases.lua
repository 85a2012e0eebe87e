-- Included after parts/read-write-lock.lua. The leases of the holders, and the number of holders.

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
