-- Included by the scripts of the fair lock, after parts/issue-token.lua. `keys` are the keys of one lock. `terms` has
-- the arguments that apply to the whole request: counterMs, claimMs, aliveMs, inbox (the prefix of the inbox channels)
-- and publish. A script sets only the terms that it needs.
--
-- `queue`    zset: owner -> ticket, which is the server time in µs at which the owner joined the queue.
-- `waiting`  hash: client -> '<untilMs> <seen> <label>'. The places of the client count until the server time
--            `untilMs`. `seen` is 2 if the inbox of the client had a listener, otherwise 0. It is 1 for a listener of an
--            older version, which cannot read a run in a message. Also owner -> claim window in ms, if the owner wants
--            a shorter window.

-- The run of a grant has the next owners of the same client in the queue. This is the most owners of a run.
local MOST_IN_RUN = 63

local function clientOf(owner)
  return string.match(owner, '^[^:]*')
end

local function isHeard(client, terms)
  return redis.call('PUBSUB', 'NUMSUB', terms.inbox .. client)[2] > 0
end

-- True if the places of the client still count and its inbox has not lost its listener. Scripts call this function
-- before they publish a grant, because a client that counts as dead must not receive a grant. If `seen` is 0, the
-- server counted no listener before, for example because the client listens at a replica. Then the script does not
-- check the number of listeners.
local function isAlive(client, mark, nowUs, terms)
  local untilMs, seen = string.match(mark or '', '^(%d+) (%d)')
  if not untilMs or untilMs * 1000 < nowUs then
    return false
  end
  return seen == '0' or isHeard(client, terms)
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

-- Sends a grant to the inbox of the client: '<token> <owner> <lock>'. If the grant has a run, the message is
-- '<token>+<length> <owner> <owners of the run> <lock>'.
local function publishGrant(keys, client, token, owner, run, terms)
  local words = { token, owner, unpack(run) }
  if #run > 0 then
    words[1] = token .. '+' .. #run
  end
  words[#words + 1] = keys.lock
  redis.call('PUBLISH', terms.inbox .. client, table.concat(words, ' '))
end

-- Grants the free lock to the first live owner of the queue, for its claim window. If `asker` is first or the queue is
-- empty, `asker` gets the lock for its own lease, because its client has just sent this request. `last` is the last
-- token, or nil if the script has not read it.
--
-- Each grant to another owner is published. If `most` is not nil, a grant to an owner of the client `own` is not
-- published, because that client reads the reply.
--
-- A grant to an owner of the queue other than `asker` can have a run: the next owners of the same client in the queue.
-- The grant reserves a token for each owner of the run, so the client may serve the run without a request. The third
-- result is the run. For the client `own`, a run has at most `most` owners.
--
-- A client counts as dead if its places no longer count, or if its inbox has lost the listener. The client `own` counts
-- as alive, because it sent this request. If a client counts as dead by mistake, its next heartbeat restores its place.
local function grantNext(keys, last, terms, own, most, asker, leaseMs)
  for _ = 0, 2000 do
    local first = redis.call('ZRANGE', keys.queue, 0, 1)
    local owner = first[1]
    if not owner and not asker then
      return nil
    end
    -- A later error must not cost an owner its place. So the counter is read before the first write.
    if owner and last == nil then
      last = redis.call('GET', keys.counter)
    end
    if asker and (owner or asker) == asker then
      if owner then
        redis.call('ZREM', keys.queue, asker)
      end
      local token = issueToken(keys.counter, terms.counterMs, leaseMs)
      redis.call('HSET', keys.lock, asker, '1')
      redis.call('PEXPIRE', keys.lock, leaseMs)
      if leaseMs < terms.claimMs then
        redis.call('HDEL', keys.waiting, asker)
      end
      return asker, token
    end

    local client = clientOf(owner)
    local found = redis.call('HMGET', keys.waiting, client, owner)
    local mark, claimMs = found[1], found[2]
    redis.call('ZREM', keys.queue, owner)
    if claimMs then
      redis.call('HDEL', keys.waiting, owner)
    end
    local nowUs = serverTimeUs()
    if client == own or isAlive(client, mark, nowUs, terms) then
      local isPublished = not (most and client == own)
      local readsRun = not isPublished or string.match(mark or '', '^%d+ 2')
      local longest = isPublished and MOST_IN_RUN or most
      local run = {}
      if readsRun and longest > 0 and first[2] and clientOf(first[2]) == client then
        run = runOf(keys, client, longest)
      end
      local token = nextToken(last, nowUs, #run)
      redis.call('HSET', keys.lock, owner, '1')
      redis.call('PEXPIRE', keys.lock, claimMs or terms.claimMs)
      setCounter(keys.counter, token, terms.counterMs, terms.claimMs)
      if isPublished then
        publishGrant(keys, client, token, owner, run, terms)
      end
      return owner, token, run
    end
    redis.call('HDEL', keys.waiting, client)
  end
  return nil
end
