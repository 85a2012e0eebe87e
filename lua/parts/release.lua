-- Lowers an owner's hold count: the script `release`.
local function release(lock, counter, owner, token, channel, publish, holds, notAfterUs)
  holds, notAfterUs = tonumber(holds or 0), tonumber(notAfterUs or 0)

  local found = redis.call('HMGET', lock, owner, 'mode')
  local held = found[1]
  if found[2] then
    -- A read-write lock of Redisson, which looks at no other lock, is in it by now.
    redis.call('HDEL', lock, owner)
    return { 'gone' }
  end
  if not held then
    -- It changes nothing. A replica refuses it, which may not have heard of the hold yet.
    redis.call('HDEL', lock, owner)
    return { 'gone' }
  end
  if token ~= '' then
    -- The counter of one master of several may be behind; none is ahead but by a newer hold.
    local last = redis.call('GET', counter)
    if last and last ~= token and tonumber(last) > tonumber(token) then
      return { 'gone' }
    end
  end

  if holds == 0 then
    redis.call('DEL', lock)
    return { 'freed', redis.call(publish, channel, '0') }
  end
  if tonumber(held) <= holds then
    return { 'kept' }
  end
  if isLate(notAfterUs) then
    return { 'late', serverTimeText() }
  end
  local lowered = redis.pcall('HINCRBY', lock, owner, holds - held)
  if type(lowered) == 'table' then
    -- A full server refuses HINCRBY, but not in a script that has written something already.
    local ttlMs = redis.call('PTTL', lock)
    if ttlMs >= 0 then
      redis.call('PEXPIRE', lock, ttlMs + 1)
    else
      redis.call('PERSIST', lock)
    end
    redis.call('HINCRBY', lock, owner, holds - held)
  end
  return { 'kept' }
end
