--[[
  Acquires a read-write lock for a writer, alone, or re-enters it.

  Safe to run twice, like `lock/acquire`. Holdfast clients that wait to write, or for the upgradable lock, get the lock
  in the order in which they came. But readers that waited while another owner wrote acquire the lock before these
  clients. The holder of the upgradable lock comes before all clients that wait to write.

  KEYS[1]   lock        hash: `mode`, and owner -> hold count
  KEYS[2]   counter     string: the last fencing token issued for this lock
  KEYS[3]   readers     zset: member -> the server time in µs at which its wait to read began
  KEYS[4]   writers     zset: member -> the server time in µs at which its wait began, to write or for the upgradable
                        lock
  KEYS[5]   alive       hash: member -> the server time in ms until which its place counts
  KEYS[6]   phase       string: exists while the waiting readers go before the waiting writers
  ARGV[1]   owner       `<clientId>:<owner>:write`
  ARGV[2]   leaseMs     the hold lives at least this long from now, in milliseconds
  ARGV[3]   notAfterUs  server time after which no count is raised, in µs; 0 means no limit
  ARGV[4]   counterMs   how long the counter is kept from now, in milliseconds; 0 means forever
  ARGV[5]   prefix      the prefix of the timeout keys of this lock
  ARGV[6]   beside      the name under which the same owner reads and may upgrade; '' for none
  ARGV[7]   client      the client of the owner if the call waits; '' if it does not wait
  ARGV[8]   waitingMs   how long the place counts, in milliseconds
  ARGV[9]   holds=1     the hold count after this call; 1 is a first acquisition
  ARGV[10]  token?      number: for a re-entry, the token of the hold; left out for a first acquisition

  Returns
    { 'granted', token: number >= 1 or '' as 0 }  the owner holds the lock; the token is '' for a re-entry
    { 'held', ttlMs >= -1, sinceUs: digits or '', holder: text or '', ageMs: number or '' as null }  Other owners hold
                             the lock, or go first, for ttlMs more; -1 means no expiry. `sinceUs` is when the client
                             began to wait to write, 3 for an upgrade, or ''. `holder` is one of the holders, and has
                             held the lock for ageMs
    { 'gone' }                 the owner no longer holds the lock that it wants to re-enter or to upgrade
    { 'late', serverTimeUs >= 1 }  refused: the server time is after notAfterUs
]]
local keys = {
  lock = KEYS[1], counter = KEYS[2], readers = KEYS[3], writers = KEYS[4], alive = KEYS[5],
  phase = KEYS[6], prefix = ARGV[5],
}
local owner, leaseMs, notAfterUs, counterMs = ARGV[1], ARGV[2], tonumber(ARGV[3]), ARGV[4]
local beside, client, waitingMs = ARGV[6], ARGV[7], tonumber(ARGV[8])
local holds, token = tonumber(ARGV[9] or 1), ARGV[10]

-- include: parts/server-time.lua

-- include: parts/late.lua

-- include: parts/counter.lua

-- include: parts/token.lua

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
local last = redis.call('GET', keys.counter)
if (token or holds > 1) and (not held or token and tonumber(last or 0) > tonumber(token)) then
  return { 'gone' }
end

if not held then
  local isUpgrade = isUpgradable(beside)
  -- If the lease of the upgradable lock has expired, another owner may have written since.
  if isUpgrade and not (found[3] and readerTtlMs(keys, beside, found[3]) ~= -2) then
    return { 'gone' }
  end
  local left = mode and (mode == 'write' and 1 or countHolders(keys)) or 0
  if left == 0 then
    -- No holder is alive, so the lock is free. A grant sets a new expiry.
    mode = false
  end
  local place = placeOf(keys, client, owner, beside)
  -- A client has one place for its readers and writers. This writer gets the place, so the client leaves the queue of
  -- the readers.
  if place == client then
    waitsNoMore(keys, client, keys.readers)
  end
  local first, _, firstForMs = firstOf(keys, keys.writers)
  if first == owner and not isUpgrade then
    -- The owner may have released the upgradable lock while it waited for an upgrade. Then the owner loses its place
    -- before all other waiters.
    waitsNoMore(keys, owner, keys.writers)
    first, _, firstForMs = firstOf(keys, keys.writers)
  end
  local isNext = isUpgrade or not first or first == client
  -- For an upgrade, the lock also counts as free if this owner is its only holder.
  local isFree = left == 0 or isUpgrade and mode == 'read' and left == 1
  local phaseMs = redis.call('PTTL', keys.phase)
  if not (isFree and isNext) or phaseMs ~= -2 then
    local sinceUs = ''
    if client ~= '' then
      if isLate(notAfterUs) then
        return { 'late', serverTimeText() }
      end
      waits(keys, place, keys.writers, isUpgrade and GOES_ON or serverTimeText(), waitingMs)
      sinceUs = redis.call('ZSCORE', keys.writers, place)
    end
    local refusal = client == '' and refusalOfReplica(keys.lock)
    if refusal then
      return refusal
    end
    if not isFree then
      return { 'held', redis.call('PTTL', keys.lock), sinceUs, holderOf(keys, mode, beside) }
    end
    -- The lock is free, but waiting readers or a client that has waited longer may go first.
    return { 'held', math.max(phaseMs, not isNext and firstForMs or 0), sinceUs, '', '' }
  end
end

local missing = holds - (held or 0)
if missing > 0 and isLate(notAfterUs) then
  return { 'late', serverTimeText() }
end
if missing > 0 then
  redis.call('HSET', keys.lock, 'mode', 'write', owner, holds)
end
if held then
  prolong(keys, leaseMs)
  keepCounter(keys.counter, counterMs, leaseMs)
  if token or holds > 1 then
    return { 'granted', '' }
  end
  if last then
    return { 'granted', last }
  end
elseif mode then
  prolong(keys, leaseMs)
else
  redis.call('PEXPIRE', keys.lock, leaseMs)
end
local newToken = nextToken(last, serverTimeUs(), 0)
setCounter(keys.counter, newToken, counterMs, leaseMs)
waitsNoMore(keys, placeOf(keys, client, owner, beside))
return { 'granted', newToken }
