-- Included after parts/queue.lua. Ends the hold of an owner of a fair lock, and grants the lock to the next waiter.
-- `served` has the owners to remove from the queue.
local function releaseFair(keys, owner, token, most, served, channel, terms)
  local found = redis.call('HMGET', keys.lock, owner, 'mode')
  local held = found[1]
  if found[2] then
    -- After the acquisition, Redisson put a read-write lock into this key, because Redisson does not check for other
    -- locks.
    redis.call('HDEL', keys.lock, owner)
    held = false
  end
  local last = redis.call('GET', keys.counter)
  if #served > 0 then
    redis.call('ZREM', keys.queue, unpack(served))
  end
  if token == '' then
    redis.call('HDEL', keys.waiting, owner)
    redis.call('ZREM', keys.queue, owner)
    if redis.call('EXISTS', keys.queue) == 0 then
      redis.call('DEL', keys.waiting)
    end
  elseif last and last ~= token then
    held = false
  end
  if not held then
    if not found[1] then
      -- This HDEL changes nothing, but makes a replica refuse the script. A replica may not have received the hold yet.
      redis.call('HDEL', keys.lock, owner)
    end
    return { 'gone' }
  end

  -- With the token '', the release runs in the background, and its client ignores the reply. So a grant to another owner
  -- of this client is published too.
  local client, silentMost = clientOf(owner), token ~= '' and tonumber(most) or nil
  local following, newToken, run = grantNext(keys, last or token, terms, client, silentMost)
  if following then
    if following ~= owner then
      redis.call('HDEL', keys.lock, owner)
    end
    if silentMost and clientOf(following) == client and #run > 0 then
      return { 'run', following, newToken, table.concat(run, ' ') }
    end
    return { 'granted', following, newToken }
  end

  -- Usually neither key exists, and one command finds this.
  local publish = terms.publish
  local hasMore = redis.call('EXISTS', keys.waiting, keys.javaQueue) > 0
  if hasMore and redis.call('HLEN', keys.waiting) > 0 and redis.call('EXISTS', keys.queue) == 0 then
    redis.call('DEL', keys.waiting)
  end
  redis.call('DEL', keys.lock)
  if hasMore then
    wakeJava(keys.javaQueue, keys.javaTimeouts, serverTimeUs(), publish, channel)
  end
  return { 'freed', redis.call(publish, channel, '0') }
end
