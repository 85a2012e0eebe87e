-- Included after parts/server-time.lua, late.lua, waiting-clients.lua, kind.lua and replica.lua. Acquires permits
-- without leases, for a script that knows how many permits are available.

-- Called when a waiter has the place of its client. Returns how long this waiter may wait before it asks again, in ms;
-- -1 if its client is first, because a message then wakes it. Also returns since when the waiter waits, as a text, and
-- true if its client is first.
local function placeOf(keys, client, sinceUs)
  local first, _, _, untilMs = firstOf(keys)
  local isFirst = first == client
  local ttlMs = isFirst and -1 or math.max(math.ceil(untilMs + 1 - serverTimeUs() / 1000), 0)
  return ttlMs, string.format('%.0f', sinceUs), isFirst
end

-- Returns the answer to an acquisition, as semaphore/acquire.lua declares it, and how many permits are then available.
-- Also returns true if another client may be next now. The last value is the client of the call if this client needs
-- no message, because it reads this answer. `call` has the arguments of the acquisition. The key `call.taking` stores how many permits were
-- taken in the name of the owner, and `taken` is its value.
local function acquirePlain(keys, call, taken, available, isSet)
  local client = call.client
  local permits = tonumber(string.match(call.owner, '%d+$'))
  if taken == 'returned' then
    return { 'held', -1, '', isSet and 1 or 0, available }, available
  elseif taken then
    redis.call('PEXPIRE', call.taking, call.keptMs)
    return { 'granted' }, available
  elseif isLate(call.notAfterUs) then
    return { 'late', serverTimeText() }, available
  end
  local sinceUs = sinceOf(call.since, call.waitedMs)
  local wasFirst = client ~= '' and firstOf(keys) == client
  if available >= permits and isNext(keys, client, sinceUs) then
    local left = redis.call('DECRBY', keys.semaphore, permits)
    redis.call('SET', call.taking, permits, 'PX', call.keptMs)
    keepKind(keys.kind)
    local exceptClient = not call.isLast and client
    local behindUs = client ~= '' and goesOn(keys, call, left)
    if not behindUs then
      return { 'granted' }, left, true, exceptClient
    end
    local ttlMs, behindSince, isFirst = placeOf(keys, client, behindUs)
    return { 'granted-and-waits', ttlMs, behindSince, isFirst and 1 or 0, left }, left, true, exceptClient
  end
  if client == '' then
    return refusalOfReplica(keys.alive) or { 'held', -1, '', isSet and 1 or 0, available }, available
  end
  waits(keys, client, sinceUs, permits, call.aliveMs)
  local ttlMs, since, isFirst = placeOf(keys, client, sinceUs)
  -- This client may have been first with the time of an earlier waiter. If it is not first with the later time of this
  -- waiter, another client is next, so the script must wake that client.
  return { 'held', ttlMs, since, isSet and 1 or 0, available }, available, wasFirst and not isFirst
end
