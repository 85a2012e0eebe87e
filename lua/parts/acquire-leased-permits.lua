-- Included after parts/counter.lua, token.lua, waiting-clients.lua, permits.lua, permit-holders.lua and replica.lua.
-- Acquires permits with leases, for a script that knows how many permits are available and taken.

-- If the client of the call waits, the answer `held` lists the owners of at most this many permits.
local TOLD = 4

-- Returns how long a client may wait before it asks again, in ms; -1 without a known time. Also returns the taken permits
-- whose leases end first, and whether the client is first.
local function placeOf(keys, client)
  local first, _, _, untilMs = firstOf(keys)
  local isFirst = first == client
  local found = redis.call('ZRANGE', keys.timeouts, 0, client == '' and 0 or TOLD - 1, 'WITHSCORES')
  local endMs = tonumber(found[2] or FOREVER)
  -- A client that is not next asks again when the place of the next client ends, because the next client may be gone.
  if first and not isFirst then
    endMs = untilMs + 1
  end
  return endMs < FOREVER and math.max(endMs - nowInMs(), 0) or -1, found, isFirst
end

-- Returns the answer to an acquisition, as permits/acquire.lua declares it, and how many permits are then available.
-- Also returns the client of the call if it needs no message, because it reads this answer. `call` has the arguments of
-- the acquisition. At a replica, may return only an error.
local function acquireLeased(keys, call, lastToken, available, taken, isSet)
  local owner, client, sinceUs = call.owner, call.client, sinceOf(call.since, call.waitedMs)
  local permits, inAll = permitsOf(owner), available + taken
  local isRepeat = taken > 0 and takenBy(keys, owner) > 0
  if not isRepeat then
    if isSet and inAll > 0 and permits > inAll then
      local refusal = refusalOfReplica(keys.alive)
      if refusal then
        return refusal
      end
      if client ~= '' then
        wentOn(keys, client, call.isLast, call.aliveMs)
      end
      return { 'too-many', available, taken }, available, not call.isLast and client
    end
    if not isNext(keys, client, sinceUs) or permits > available then
      local refusal = client == '' and refusalOfReplica(keys.alive)
      if refusal then
        return refusal
      end
      if client ~= '' then
        waits(keys, client, sinceUs, permits, call.aliveMs)
      end
      local ttlMs, found = placeOf(keys, client)
      local since, holders = '', {}
      if client ~= '' then
        since, holders = string.format('%.0f', sinceUs), holdersOf(keys, found)
      end
      local seen = { 'held', ttlMs, since, isSet and 1 or 0, available, taken, serverTimeText(), holders }
      return seen, available, client
    end
  end

  local token = nextToken(lastToken, serverTimeUs(), 0)
  setCounter(keys.counter, token, call.counterMs, call.leaseMs)
  take(keys, owner, nowInMs() + call.leaseMs, isRepeat)
  if not isRepeat then
    available, taken = redis.call('DECRBY', keys.pool, permits), taken + permits
    addHolder(keys, owner, call.leaseMs, taken)
    keepKind(keys.kind)
    -- If the semaphore has an expiry, its taken permits get the same expiry.
    local ttlMs = redis.call('PTTL', keys.pool)
    if ttlMs > 0 then
      redis.call('PEXPIRE', keys.timeouts, ttlMs)
    end
  end
  -- If the next call of the client wants more permits than exist, it must ask at once, and is then refused. So it does
  -- not get the place of the client.
  if call.behindPermits > inAll then
    call.behindPermits = 0
  end
  local behindUs = client ~= '' and goesOn(keys, call, available)
  local exceptClient = not call.isLast and client
  local differs = call.limit and inAll ~= call.limit and inAll or ''
  if not behindUs then
    return { 'granted', token, differs }, available, exceptClient
  end
  local ttlMs, found, isFirst = placeOf(keys, client)
  local since, first = string.format('%.0f', behindUs), isFirst and 1 or 0
  local now, holders = serverTimeText(), holdersOf(keys, found)
  return { 'granted-and-waits', token, differs, ttlMs, since, first, available, taken, now, holders },
    available, exceptClient
end
