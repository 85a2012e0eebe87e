-- Included after parts/queue-places.lua. Acquires a fair lock for an owner, or puts the owner into its queue.
local function acquireFair(keys, owner, leaseMs, ticket, notAfterUs, listens, label, terms)
  local ttlMs = redis.call('PTTL', keys.lock)
  local fields = ttlMs ~= -2 and redis.call('HGETALL', keys.lock) or {}
  local holder, held, isReadWrite = fields[1], false, false
  for i = 1, #fields, 2 do
    held = held or fields[i] == owner
    isReadWrite = isReadWrite or fields[i] == 'mode'
  end
  if isReadWrite then
    return redis.error_reply(READ_WRITE)
  end

  if held then
    if ttlMs < leaseMs then
      redis.call('PEXPIRE', keys.lock, leaseMs)
      keepCounter(keys.counter, terms.counterMs, leaseMs)
    end
    local last = redis.call('GET', keys.counter)
    if not last then
      last = serverTimeText()
      setCounter(keys.counter, last, terms.counterMs, leaseMs)
    end
    return { 'granted', last }
  end
  if isLate(notAfterUs) then
    return { 'late', serverTimeText() }
  end

  local client, last = clientOf(owner), nil
  if ttlMs == -2 then
    local granted, token = grantNext(keys, nil, terms, client, nil, owner, leaseMs)
    if granted == owner then
      return { 'granted', token }
    end
    ttlMs, last, holder = math.max(redis.call('PTTL', keys.lock), 0), token, granted
  end
  last = last or redis.call('GET', keys.counter)
  local nowUs, issuedUs = serverTimeUs(), tonumber(last)
  local ageMs = issuedUs and math.max(0, math.floor((nowUs - issuedUs) / 1000)) or ''
  if ticket == 'try' then
    local length = redis.call('ZCARD', keys.queue)
    return refusalOfReplica(keys.lock) or { 'held', ttlMs, holder or '', ageMs, length }
  end

  if ticket ~= '' then
    -- A server with full memory refuses ZADD as the first write of a script. For an owner with a ticket, this ZREM comes
    -- first, so the owner keeps its place. A full server usually refuses a new owner.
    redis.call('ZREM', keys.queue, '')
  end
  local tail = redis.call('ZRANGE', keys.queue, -1, -1, 'WITHSCORES')
  local first = not tail[1]
  local isNew = ticket == ''
  local hadNoTicket = isNew
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
  stayAlive(keys, client, listens, label, terms)
  local isLast = isNew or tail[1] == owner
  local position = hadNoTicket and isLast and redis.call('ZCARD', keys.queue) or ''
  return { 'queued', ticket, last or '', ttlMs, first and 1 or 0, holder or '', ageMs, position }
end
