--[[
  Takes the lock in turn: when it is free and nobody is before the owner; else queues for it.

  Also confirms a grant, and finds one whose message never came. Safe to run twice: a repeat finds
  the owner in the queue, or in the lock, and answers the same. A free lock is first given to whom
  it belongs, so whoever asks moves the queue on. A request that was delayed on its way (the caller
  has given up by now) is refused by server time.

  KEYS[1]   lock        hash: owner -> hold count
  KEYS[2]   counter     string: the last fencing token issued for this lock
  KEYS[3]   queue       zset: owner -> ticket
  KEYS[4]   waiting     hash: client -> until when its places are alive
  ARGV[1]   owner       `<clientId>:<owner>`
  ARGV[2]   leaseMs     the lease that it wants, in milliseconds
  ARGV[3]   ticket      the ticket that it was given before; '' for none, 'try' not to queue
  ARGV[4]   notAfterUs  server time after which nothing is done, in µs; 0 is never
  ARGV[5]   listens     1 or '': whether its client hears what comes into its inbox
  ARGV[6]   label       what `inspect` shows for the process
  ARGV[7]   counterMs   how long the counter is kept from now, in milliseconds; 0 is for good
  ARGV[8]   claimMs     how long a grant stands before it is confirmed, in milliseconds
  ARGV[9]   aliveMs     how long a place is kept without a heartbeat, in milliseconds
  ARGV[10]  inbox       the prefix of the inbox channels of the clients

  Returns
    { 'granted', token >= 1 }
                             it is the owner's, for its lease
    { 'held', ttlMs >= -1, holder: text or '', ageMs: number or '' as null, length }
                             it is not to be had now; -1 means without an expiry. The holder has had it for ageMs, as
                             its token tells; '' where there is none. So many queue for it
    { 'queued', ticket: digits, lastToken: number or '' as 0, ttlMs >= -1, first: 1 or 0,
      holder: text or '', ageMs: number or '' as null, position: number or '' as null }
                             it waits; lastToken is of whoever has the lock, '' when it is lost; first is 1 when nobody
                             else is before it; position is its place from 1 on, of the last one
    { 'late', serverTimeUs >= 1 }  refused: it is later than notAfterUs
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
  return { 'held', ttlMs, holder, ageMs, redis.call('ZCARD', keys.queue) }
end

if ticket ~= '' then
  -- A full server refuses newcomers, but not in a script that has written something already.
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
