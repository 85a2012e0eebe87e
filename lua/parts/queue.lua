-- Included by the scripts of the fair lock, after parts/counter.lua and parts/token.lua. `keys` are those of
-- one lock; `terms` are of the call: counterMs, claimMs, aliveMs, inbox (the prefix of the inbox channels).
--
-- queue    zset: owner -> ticket, which is the server time in µs when it came
-- waiting  hash: client -> '<alive until, ms> <1 if its inbox was seen to have a listener> <label>',
--          and owner -> claim window in ms, for those who want a shorter one

local function clientOf(owner)
  return string.match(owner, '^[^:]*')
end

local function isHeard(client, terms)
  return redis.call('PUBSUB', 'NUMSUB', terms.inbox .. client)[2] > 0
end

-- Keeps a client's places alive from now on. Most calls find that it was done just before.
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

  -- Where the queue is never empty, what clients left behind is found by and by.
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

-- Counted before anything is sent: where the count is wrong, as for one who listens at a replica,
-- nobody who is passed over may have been told that the lock is his.
local function isAlive(client, mark, nowUs, terms)
  local untilMs, seen = string.match(mark or '', '^(%d+) (%d)')
  if not untilMs or untilMs * 1000 < nowUs then
    return false
  end
  return seen == '0' or isHeard(client, terms)
end

-- The first in the queue who is alive; those before it are taken out.
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

-- Gives the lock, which nobody else is to have, to the first in the queue who is alive, for the claim
-- window; or to `asker`, who is awake, for its lease, when it is the first or nobody queues. Everybody
-- is told by a message; if `silent`, not those of the client `own`, who reads the reply. A client
-- whose inbox had a listener and has none any more is gone, unless it is `own`, who is running this;
-- if it is not gone, its next heartbeat puts it back in place.
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
      redis.call('HSET', keys.lock, owner, '1')
      redis.call('PEXPIRE', keys.lock, claimMs or terms.claimMs)
      setCounter(keys.counter, token, terms.counterMs, terms.claimMs)
      if not (silent and client == own) then
        local message = token .. ' ' .. owner .. ' ' .. keys.lock
        redis.call('PUBLISH', terms.inbox .. client, message)
      end
      return owner, token
    end
    redis.call('HDEL', keys.waiting, client)
  end
  return nil
end
