-- Included by the scripts of the fair lock, after parts/counter.lua and parts/token.lua. `keys` are the keys of one
-- lock. `terms` belong to the call: counterMs, claimMs, aliveMs, most, inbox (the prefix of the inbox channels).
--
-- `queue`    zset: owner -> ticket, which is the server time in µs at which the owner joined the queue.
-- `waiting`  hash: client -> '<untilMs> <seen> <label>'. The places of the client count until the server time
--            `untilMs`. `seen` is 1 if the inbox of the client had a listener, otherwise 0. Also owner -> claim window
--            in ms, if the owner wants a shorter window.

local function clientOf(owner)
  return string.match(owner, '^[^:]*')
end

local function isHeard(client, terms)
  return redis.call('PUBSUB', 'NUMSUB', terms.inbox .. client)[2] > 0
end

-- Keeps the places of a client for `aliveMs` from now. Usually writes nothing if an earlier call did this recently.
local function stayAlive(keys, client, listens, label, nowMs, terms)
  local mark = redis.call('HGET', keys.waiting, client)
  local untilMs, seen = string.match(mark or '', '^(%d+) (%d)')
  if seen == (listens and '1' or '0') and untilMs - nowMs > terms.aliveMs * 0.75 then
    return
  end
  seen = listens and isHeard(client, terms) and 1 or 0
  mark = string.format('%.0f %d %s', nowMs + terms.aliveMs, seen, label)
  redis.call('HSET', keys.waiting, client, mark)
  redis.call('PEXPIRE', keys.waiting, terms.aliveMs * 2)
  redis.call('PEXPIRE', keys.queue, terms.aliveMs * 2)

  -- If the queue is never empty, `waiting` is never deleted. So each write also checks three random entries, and
  -- deletes entries of clients that are gone and of owners that no longer wait.
  local some = redis.call('HRANDFIELD', keys.waiting, 3, 'WITHVALUES')
  for i = 1, #some, 2 do
    local overMs = string.match(some[i + 1], '^(%d+) %d')
    if overMs and overMs - nowMs < 0 then
      redis.call('HDEL', keys.waiting, some[i])
    elseif not overMs and not redis.call('ZSCORE', keys.queue, some[i]) then
      redis.call('HDEL', keys.waiting, some[i])
    end
  end
end

-- True if the places of the client still count and its inbox has not lost its listener. Scripts call this function
-- before they publish a grant, because a client that counts as dead must not receive a grant. The number of listeners
-- can be wrong, for example if the client listens at a replica.
local function isAlive(client, mark, nowUs, terms)
  local untilMs, seen = string.match(mark or '', '^(%d+) (%d)')
  if not untilMs or untilMs * 1000 < nowUs then
    return false
  end
  return seen == '0' or isHeard(client, terms)
end

-- Returns the first live owner of the queue, and removes the dead owners before this owner. Owners of the client `own`
-- count as alive. Returns nothing after 100 dead owners.
local function firstAlive(keys, nowUs, terms, own)
  for _ = 1, 100 do
    local owner = redis.call('ZRANGE', keys.queue, 0, 0)[1]
    local client = owner and clientOf(owner)
    if not owner or client == own then
      return owner
    end
    if isAlive(client, redis.call('HGET', keys.waiting, client), nowUs, terms) then
      return owner
    end
    redis.call('ZREM', keys.queue, owner)
    redis.call('HDEL', keys.waiting, owner)
  end
end

-- Returns the owners of this client that come before the first owner of another client in the queue, at most `most`.
local function runOf(keys, client, most)
  local run = {}
  for i, owner in ipairs(redis.call('ZRANGE', keys.queue, 0, most - 1)) do
    if clientOf(owner) ~= client then
      break
    end
    run[i] = owner
  end
  return run
end

-- Grants the free lock to the first live owner of the queue, for its claim window. If `asker` is first or the queue is
-- empty, `asker` gets the lock for its own lease, because its client has just sent this request.
--
-- Each grant to another owner is published. If `silent` is true, a grant to an owner of the client `own` is not
-- published, because that client reads the reply. Such a grant also reserves a token for each owner of its run: the next
-- owners of the client in the queue, at most `terms.most`. The run is the third result.
--
-- A client counts as dead if its places no longer count, or if its inbox has lost the listener. The client `own` counts
-- as alive, because it sent this request. If a client counts as dead by mistake, its next heartbeat restores its place.
local function grantNext(keys, last, nowUs, terms, own, silent, asker, leaseMs)
  local token = nextToken(last, nowUs, 0)
  for _ = 0, 2000 do
    local owner = redis.call('ZRANGE', keys.queue, 0, 0)[1]
    if not owner and not asker then
      return nil
    end
    if asker and (owner or asker) == asker then
      if owner then
        redis.call('ZREM', keys.queue, asker)
      end
      redis.call('HSET', keys.lock, asker, '1')
      redis.call('PEXPIRE', keys.lock, leaseMs)
      if leaseMs < terms.claimMs then
        redis.call('HDEL', keys.waiting, asker)
      end
      setCounter(keys.counter, token, terms.counterMs, leaseMs)
      return asker, token
    end

    local client = clientOf(owner)
    local found = redis.call('HMGET', keys.waiting, client, owner)
    local claimMs = found[2]
    redis.call('ZREM', keys.queue, owner)
    if claimMs then
      redis.call('HDEL', keys.waiting, owner)
    end
    if client == own or isAlive(client, found[1], nowUs, terms) then
      local run = {}
      if silent and client == own and terms.most > 0 then
        run = runOf(keys, client, terms.most)
        token = nextToken(last, nowUs, #run)
      end
      redis.call('HSET', keys.lock, owner, '1')
      redis.call('PEXPIRE', keys.lock, claimMs or terms.claimMs)
      setCounter(keys.counter, token, terms.counterMs, terms.claimMs)
      if not (silent and client == own) then
        local message = token .. ' ' .. owner .. ' ' .. keys.lock
        redis.call('PUBLISH', terms.inbox .. client, message)
      end
      return owner, token, run
    end
    redis.call('HDEL', keys.waiting, client)
  end
  return nil
end
