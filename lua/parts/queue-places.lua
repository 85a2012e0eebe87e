-- Included after parts/queue.lua. Keeps the places of a client for `aliveMs` from now. Usually writes nothing if an
-- earlier call did this recently.
local function stayAlive(keys, client, listens, label, terms)
  local nowMs = serverTimeUs() / 1000
  local mark = redis.call('HGET', keys.waiting, client)
  local untilMs, seen = string.match(mark or '', '^(%d+) (%d)')
  if seen == (listens and '2' or '0') and untilMs - nowMs > terms.aliveMs * 0.75 then
    return
  end
  seen = listens and isHeard(client, terms) and 2 or 0
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
