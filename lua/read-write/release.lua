--[[
  Lowers the hold count of a reader or a writer. At zero the hold ends, and the next waiters are woken. If a writer also
  reads, it stays a reader.

  Safe to run twice: the caller states the hold count after the call.

  KEYS[1]  lock        hash: `mode`, and owner -> hold count
  KEYS[2]  counter     string: the last fencing token issued for this lock
  KEYS[3]  readers     zset: member -> the server time in µs at which its wait to read began
  KEYS[4]  writers     zset: member -> the server time in µs at which its wait began, to write or for the upgradable
                       lock
  KEYS[5]  alive       hash: member -> the server time in ms until which its place counts
  KEYS[6]  phase       string: exists while the waiting readers go before the waiting writers
  ARGV[1]  owner       `<clientId>:<owner>`, for a writer with `:write`
  ARGV[2]  token       number or '': for a writer, the token of the hold to end; '' ends any hold of the owner
  ARGV[3]  channel     the channel of the waiters of this lock
  ARGV[4]  publish     PUBLISH or SPUBLISH
  ARGV[5]  prefix      the prefix of the timeout keys of this lock
  ARGV[6]  client      the client if its place for this kind of hold ends; '' if its next waiter needs this place
  ARGV[7]  claimMs     how long the waiting readers go before the waiting writers, in milliseconds
  ARGV[8]  holds=0     the hold count after this call
  ARGV[9]  notAfterUs?  server time after which no count above 0 is set, in µs; 0 means no limit

  Returns
    { 'freed', listeners }   the owner does not hold the lock any more, and this many listeners were woken
    { 'kept' }               the owner still holds the lock, with the count asked for
    { 'gone' }               the owner did not hold the lock, or not under that token
    { 'late', serverTimeUs >= 1 }  refused: the server time is after notAfterUs
]]
local keys = {
  lock = KEYS[1], counter = KEYS[2], readers = KEYS[3], writers = KEYS[4], alive = KEYS[5],
  phase = KEYS[6], prefix = ARGV[5],
}
local owner, token, channel, publish = ARGV[1], ARGV[2], ARGV[3], ARGV[4]
local client, claimMs = ARGV[6], ARGV[7]
local holds, notAfterUs = tonumber(ARGV[8] or 0), tonumber(ARGV[9] or 0)

-- include: parts/server-time.lua

-- include: parts/late.lua

-- include: parts/read-write-lock.lua

-- include: parts/read-write-leases.lua

-- include: parts/read-write-queues.lua

-- include: parts/read-write-turns.lua

local writes = isWriter(owner)
local place, queue = placeOf(keys, client, owner, '')
waitsNoMore(keys, place, queue)
local found = redis.call('HMGET', keys.lock, 'mode', owner)
local held = found[1] and found[2]
if held and writes and token ~= '' then
  local last = redis.call('GET', keys.counter)
  held = not (last and last ~= token and tonumber(last) > tonumber(token)) and held
end
if not held then
  -- The owner may have waited under its own name instead of the name of its client.
  local hasLeft = waitsNoMore(keys, owner, queue) or client ~= ''
  -- The first waiter may have left, so the script wakes the next waiter.
  if hasLeft and found[1] ~= 'write' then
    tellNext(keys, publish, channel, found[1] and countHolders(keys) or 0)
  end
  return { 'gone' }
end
if holds > 0 then
  if tonumber(held) <= holds then
    return { 'kept' }
  end
  if isLate(notAfterUs) then
    return { 'late', serverTimeText() }
  end
  -- A server with full memory refuses HSET as the first write of a script. So this HDEL comes first, and changes
  -- nothing.
  redis.call('HDEL', keys.lock, '')
  redis.call('HSET', keys.lock, owner, holds)
  return { 'kept' }
end

redis.call('HDEL', keys.lock, owner)
if writes then
  local left = 0
  if redis.call('HLEN', keys.lock) > 1 then
    -- The owner also reads, so it keeps its hold as a reader.
    redis.call('HSET', keys.lock, 'mode', 'read')
    left = dropDead(keys)
  else
    redis.call('DEL', keys.lock)
  end
  return { 'freed', wake(keys, publish, channel, left, true, claimMs) }
end

local leftMs = readerTtlMs(keys, owner, 1)
redis.call('DEL', leaseKey(keys, owner))
if found[1] == 'write' then
  return { 'freed', 0 }
end
if redis.call('HLEN', keys.lock) == 1 then
  redis.call('DEL', keys.lock)
  return { 'freed', wake(keys, publish, channel, 0, false, claimMs) }
end
-- The lock has other readers. The script wakes waiters in three cases: no reader is alive, the ended hold was
-- upgradable, or the only holder waits for an upgrade.
local first, sinceUs = firstOf(keys, keys.writers)
-- Redisson's waiters sleep until the lock key expires. So `countHolders` may shorten the expiry of the key, if the ended
-- lease was the longest lease, or if the key lives much longer. The expiries of the lease and the key
-- can differ by milliseconds, because they are set one after the other.
local lockMs = redis.call('PTTL', keys.lock)
local isLong = lockMs - leftMs < 100 or lockMs - leftMs * 2 > 1000
local left = (first or isLong) and countHolders(keys)
if left == 0 then
  return { 'freed', wake(keys, publish, channel, 0, false, claimMs) }
elseif isUpgradable(owner) or left == 1 and sinceUs == GOES_ON then
  tellNext(keys, publish, channel, left)
end
return { 'freed', 0 }
