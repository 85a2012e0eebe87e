--[[
  Acquires a read-write lock for a reader, beside other readers, or re-enters it.

  Safe to run twice, like `lock/acquire`. A reader waits while another owner writes. A reader also waits if a Holdfast
  client is next to write, unless the waiting readers go before the waiting writers. A reader gets the token of the last
  writer, or the server time if the counter is missing.

  A reader whose name ends in `:upgradable` may upgrade to writing. Only one such reader can hold the lock at a time.
  Such a reader waits for all clients that came earlier to write or for the upgradable lock.

  KEYS[1]   lock        hash: `mode`, and owner -> hold count
  KEYS[2]   counter     string: the last fencing token issued for this lock
  KEYS[3]   readers     zset: member -> the server time in µs at which its wait to read began
  KEYS[4]   writers     zset: member -> the server time in µs at which its wait began, to write or for the upgradable
                        lock
  KEYS[5]   alive       hash: member -> the server time in ms until which its place counts
  KEYS[6]   phase       string: exists while the waiting readers go before the waiting writers
  ARGV[1]   owner       `<clientId>:<owner>`
  ARGV[2]   leaseMs     the hold lives at least this long from now, in milliseconds
  ARGV[3]   notAfterUs  server time after which no count is raised, in µs; 0 means no limit
  ARGV[4]   counterMs   how long the counter is kept from now, in milliseconds; 0 means forever
  ARGV[5]   prefix      the prefix of the timeout keys of this lock
  ARGV[6]   beside      the name under which the same owner holds the lock to write; '' for none
  ARGV[7]   client      the client of the owner if the call waits; '' if it does not wait
  ARGV[8]   last        1 or '': for a plain reader, 1 if no other plain reader of its client waits
  ARGV[9]   waitingMs   how long the place counts, in milliseconds
  ARGV[10]  holds=1     the hold count after this call; 1 is a first acquisition

  Returns
    { 'granted', token >= 1 }  the owner holds the lock
    { 'held', ttlMs >= -1, sinceUs: digits or '', holder: text or '', ageMs: number or '' as null }  The owner cannot
                             have the lock now, for ttlMs more; -1 means no expiry. `sinceUs` is when the client began
                             to wait for the upgradable lock, or ''. `holder` is one of the holders, and has held the
                             lock for ageMs
    { 'gone' }                 a re-entry, but the owner does not hold the lock any more
    { 'late', serverTimeUs >= 1 }  refused: the server time is after notAfterUs
]]
local keys = {
  lock = KEYS[1], counter = KEYS[2], readers = KEYS[3], writers = KEYS[4], alive = KEYS[5],
  phase = KEYS[6], prefix = ARGV[5],
}
local owner, leaseMs, notAfterUs, counterMs = ARGV[1], ARGV[2], tonumber(ARGV[3]), ARGV[4]
local beside, client, last, waitingMs = ARGV[6], ARGV[7], ARGV[8] == '1', tonumber(ARGV[9])
local holds = tonumber(ARGV[10] or 1)

-- include: parts/server-time.lua

-- include: parts/late.lua

-- include: parts/counter.lua

-- include: parts/read-write-lock.lua

-- include: parts/read-write-leases.lua

-- include: parts/read-write-queues.lua

-- include: parts/read-write-turns.lua

-- include: parts/read-write-holder.lua

-- include: parts/replica.lua

local found = redis.call('HMGET', keys.lock, 'mode', owner, beside)
local mode, held = found[1], found[2]
if not mode and redis.call('EXISTS', keys.lock) == 1 then
  return redis.error_reply(OTHER_LOCK)
end
-- A hold with an expired lease is over, even if no request has removed the hold yet.
if held and readerTtlMs(keys, owner, held) == -2 then
  redis.call('HDEL', keys.lock, owner)
  held = false
  if dropDead(keys) == 0 then
    mode = false
  end
end
if holds > 1 and not held then
  return { 'gone' }
end

local place, queue = placeOf(keys, client, owner, beside)
-- A client has one place for its readers and writers. This reader gets the place, so the client leaves the queue of the
-- writers.
if queue == keys.readers and place == client then
  waitsNoMore(keys, client, keys.writers)
end
local isKeptOut = not held
  and (
    mode == 'write' and not found[3]
    or mode ~= 'write' and isShut(keys, owner, place)
    or mode and isUpgradable(owner) and hasUpgradable(keys)
  )
if isKeptOut then
  local sinceUs = ''
  if client ~= '' then
    if isLate(notAfterUs) then
      return { 'late', serverTimeText() }
    end
    waits(keys, place, queue, serverTimeText(), waitingMs)
    sinceUs = isUpgradable(owner) and redis.call('ZSCORE', queue, place) or ''
  end
  local refusal = client == '' and refusalOfReplica(keys.lock)
  if refusal then
    return refusal
  end
  local holder, heldMs = holderOf(keys, mode)
  return { 'held', math.max(redis.call('PTTL', keys.lock), -1), sinceUs, holder, heldMs }
end
local missing = holds - (held or 0)
if missing > 0 and isLate(notAfterUs) then
  return { 'late', serverTimeText() }
end

local token = redis.call('GET', keys.counter)
if not token then
  token = serverTimeText()
  -- If the owner also writes, the script does not set the counter. The token of the writer is unknown, and a counter
  -- above this token would end the hold of the writer.
  if mode ~= 'write' then
    setCounter(keys.counter, token, counterMs, leaseMs)
  end
else
  keepCounter(keys.counter, counterMs, leaseMs)
end
if missing > 0 then
  redis.call('HSET', keys.lock, owner, holds)
end
if not mode then
  redis.call('HSET', keys.lock, 'mode', 'read')
  redis.call('PEXPIRE', keys.lock, leaseMs)
end
if not held then
  lease(keys, owner, leaseMs)
elseif readerTtlMs(keys, owner, 1) - leaseMs < 0 then
  lengthen(keys, owner, leaseMs)
end
prolong(keys, leaseMs)
if last or place ~= client then
  waitsNoMore(keys, place, queue)
end
return { 'granted', token }
