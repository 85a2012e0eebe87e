-- Lowers the hold count of an owner, for the scripts `release` and `batch`.
local function release(lock, counter, owner, token, channel, publish, holds, notAfterUs)
  holds, notAfterUs = tonumber(holds or 0), tonumber(notAfterUs or 0)

  local found = redis.call('HMGET', lock, owner, 'mode')
  local held = found[1]
  if found[2] then
    -- After the acquisition, Redisson put a read-write lock into this key, because Redisson does not check for other
    -- locks.
    redis.call('HDEL', lock, owner)
    return { 'gone' }
  end
  if not held then
    -- This HDEL changes nothing, but makes a replica refuse the script. A replica may not have received the hold yet.
    redis.call('HDEL', lock, owner)
    return { 'gone' }
  end
  if token ~= '' then
    -- On one of several masters, the counter can be below the token. If the counter is above the token, the owner has a
    -- newer hold.
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
    -- A server with full memory refuses HINCRBY as the first write of a script. So the script first writes the expiry,
    -- almost unchanged.
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
