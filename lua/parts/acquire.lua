-- Included after parts/issue-token.lua. Acquires a lock for an owner, or re-enters it. The script `acquire` passes no
-- `vote`. The script `vote` passes a table with `birth` and `longestMs`.
local function acquire(
  lock, counter, owner, leaseMs, notAfterUs, counterMs, holds, reserve, token, vote
)
  holds, reserve, notAfterUs = tonumber(holds or 1), tonumber(reserve or 0), tonumber(notAfterUs)
  local reserved = reserve > 0 and reserve or nil
  local reenters = token or holds > 1

  local ttlMs = redis.call('PTTL', lock)
  local found = ttlMs ~= -2 and redis.call('HMGET', lock, owner, 'mode') or {}
  local held = found[1]
  if found[2] then
    return redis.error_reply(READ_WRITE)
  end
  if reenters and not held then
    return { 'gone' }
  end
  if token and not vote and tonumber(redis.call('GET', counter) or 0) > tonumber(token) then
    return { 'gone' }
  end
  if ttlMs ~= -2 and not held then
    local refusal = not vote and refusalOfReplica(lock)
    if refusal then
      return refusal
    end
    -- On a single server, the last token is close to the time of the grant, so it gives the age of the hold.
    -- Independent masters count their tokens, so they report no age. With redis.pcall, an error of the counter does not
    -- stop the answer.
    local last = not vote and tonumber(redis.pcall('GET', counter))
    local ageMs = last and math.max(0, math.floor((serverTimeUs() - last) / 1000)) or ''
    return { 'held', ttlMs, redis.call('HGETALL', lock)[1], ageMs }
  end

  local nowUs = serverTimeUs()
  local missing = holds - (held or 0)
  if missing > 0 and isLate(notAfterUs) then
    return { 'late', serverTimeText() }
  end

  local sinceUs
  if vote and not held then
    local replId, longest
    sinceUs, replId, longest =
      string.match(redis.call('GET', vote.birth) or '', '^(%d+) %S* %d (%x+) (%d+)$')
    -- The replication id changes when the server starts, is promoted, or gets its first replica. A client may stay
    -- connected during such a change, so the script compares the id at each vote.
    local line = replId and 'master_replid:' .. replId .. '\r'
    local isSame = line and string.find(replicationInfo(), line, 1, true)
    if not isSame or longest - vote.longestMs < 0 then
      return { 'forgot', '' }
    elseif tonumber(sinceUs) > nowUs then
      return { 'forgot', sinceUs }
    end
  end

  if not held and not vote then
    local newToken = issueToken(counter, counterMs, leaseMs, reserved)
    redis.call('HSET', lock, owner, '1')
    redis.call('PEXPIRE', lock, leaseMs)
    return { 'granted', newToken, reserved }
  end

  local last = not reenters and redis.call('GET', counter)

  if held then
    if missing > 0 then
      redis.call('HINCRBY', lock, owner, missing)
    end
    if ttlMs - leaseMs < 0 then
      redis.call('PEXPIRE', lock, leaseMs)
      keepCounter(counter, counterMs, leaseMs)
    end
    if reenters then
      return { 'granted', '' }
    end
    if last then
      return { 'granted', last }
    end
  end

  if not held then
    redis.call('HSET', lock, owner, '1')
    redis.call('PEXPIRE', lock, leaseMs)
  end
  local floorUs = sinceUs and last and tonumber(sinceUs) or nowUs
  local newToken = nextToken(last, floorUs, reserve)
  setCounter(counter, newToken, counterMs, leaseMs)
  return { 'granted', newToken, reserved }
end
