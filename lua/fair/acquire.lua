--[[
  Acquires the lock in FIFO order. If the lock is held, or other owners queue for it, the owner joins the queue.

  The same request also confirms a grant, and finds a grant whose message was lost. Safe to run twice: a repeat finds
  the owner in the queue or in the lock, and gives the same answer. If the lock is free, the script grants the lock to
  the head of the queue first, so each request moves the queue. The script refuses a delayed request by server time,
  because the caller of such a request has given up.

  KEYS[1]   lock        hash: owner -> hold count
  KEYS[2]   counter     string: the last fencing token issued for this lock
  KEYS[3]   queue       zset: owner -> ticket
  KEYS[4]   waiting     hash: client -> the server time in ms until which its places count
  ARGV[1]   owner       `<clientId>:<owner>`
  ARGV[2]   leaseMs     the lease that the owner wants, in milliseconds
  ARGV[3]   ticket      the ticket of an earlier answer; '' without an earlier answer; 'try' if the call does not wait
  ARGV[4]   notAfterUs  server time after which nothing changes, in µs; 0 means no limit
  ARGV[5]   listens     1 or '': 1 if the client listens to its inbox
  ARGV[6]   label       the name of the process in `inspect`
  ARGV[7]   counterMs   how long the counter is kept from now, in milliseconds; 0 means forever
  ARGV[8]   claimMs     how long an unconfirmed grant lasts, in milliseconds
  ARGV[9]   aliveMs     how long a place is kept without a heartbeat, in milliseconds
  ARGV[10]  inbox       the prefix of the inbox channels of the clients

  Returns
    { 'granted', token >= 1 }  the owner holds the lock for its lease
    { 'held', ttlMs >= -1, holder: text or '', ageMs: number or '' as null, length }  the owner cannot have the lock
                             now; a ttlMs of -1 means no expiry. The holder has held the lock for ageMs, computed from
                             its token; '' without a token. `length` is the number of waiters in the queue
    { 'queued', ticket: digits, lastToken: number or '' as 0, ttlMs >= -1, first: 1 or 0,
      holder: text or '', ageMs: number or '' as null, position: number or '' as null }
                             the owner waits. `lastToken` is the token of the holder, '' if the counter is lost.
                             `first` is 1 if no other owner is before this owner. `position` is the position of the
                             owner in the queue, from 1. It is '' if the request has a ticket, or if others are behind
    { 'late', serverTimeUs >= 1 }  refused: the server time is after notAfterUs
]]
local keys = { lock = KEYS[1], counter = KEYS[2], queue = KEYS[3], waiting = KEYS[4] }
local owner, leaseMs, ticket = ARGV[1], tonumber(ARGV[2]), ARGV[3]
local notAfterUs, listens, label = tonumber(ARGV[4]), ARGV[5] == '1', ARGV[6]
local terms = {
  counterMs = ARGV[7],
  claimMs = tonumber(ARGV[8]),
  aliveMs = tonumber(ARGV[9]),
  inbox = ARGV[10],
}

-- include: parts/server-time.lua

-- include: parts/late.lua

-- include: parts/counter.lua

-- include: parts/token.lua

-- include: parts/queue.lua

-- include: parts/read-write.lua

-- include: parts/replica.lua

local client = clientOf(owner)

local ttlMs = redis.call('PTTL', keys.lock)
local found = ttlMs ~= -2 and redis.call('HMGET', keys.lock, owner, 'mode') or {}
local held = found[1]
if found[2] then
  return redis.error_reply(READ_WRITE)
end
local last = redis.call('GET', keys.counter)
local nowUs = serverTimeUs()

if held then
  if ttlMs < leaseMs then
    redis.call('PEXPIRE', keys.lock, leaseMs)
    keepCounter(keys.counter, terms.counterMs, leaseMs)
  end
  if not last then
    last = serverTimeText()
    setCounter(keys.counter, last, terms.counterMs, leaseMs)
  end
  return { 'granted', last }
end
if isLate(notAfterUs) then
  return { 'late', serverTimeText() }
end

if ttlMs == -2 then
  local granted, token = grantNext(keys, last, nowUs, terms, client, false, owner, leaseMs)
  if granted == owner then
    return { 'granted', token }
  end
  ttlMs, last = math.max(redis.call('PTTL', keys.lock), 0), token or last
end
local holder, issuedUs = redis.call('HGETALL', keys.lock)[1] or '', tonumber(last)
local ageMs = issuedUs and math.max(0, math.floor((nowUs - issuedUs) / 1000)) or ''
if ticket == 'try' then
  return refusalOfReplica(keys.lock) or { 'held', ttlMs, holder, ageMs, redis.call('ZCARD', keys.queue) }
end

if ticket ~= '' then
  -- A server with full memory refuses ZADD as the first write of a script. For an owner with a ticket, this ZREM comes
  -- first, so the owner keeps its place. The server usually refuses new owners.
  redis.call('ZREM', keys.queue, '')
end
local tail = redis.call('ZRANGE', keys.queue, -1, -1, 'WITHSCORES')
local first = not tail[1]
local isNew = ticket == ''
local hasNone = isNew
if isNew then
  ticket = string.format('%.0f', math.max(nowUs, (tail[2] or 0) + 1))
end
if redis.call('ZADD', keys.queue, 'NX', ticket, owner) == 0 then
  ticket = redis.call('ZSCORE', keys.queue, owner)
  isNew = false
end
if first then
  redis.call('PEXPIRE', keys.queue, terms.aliveMs * 2)
elseif not isNew then
  first = redis.call('ZRANGE', keys.queue, 0, 0)[1] == owner
end
if leaseMs < terms.claimMs then
  redis.call('HSET', keys.waiting, owner, leaseMs)
end
stayAlive(keys, client, listens, label, nowUs / 1000, terms)
local isLast = isNew or tail[1] == owner
local position = hasNone and isLast and redis.call('ZCARD', keys.queue) or ''
return { 'queued', ticket, last or '', ttlMs, first and 1 or 0, holder, ageMs, position }
