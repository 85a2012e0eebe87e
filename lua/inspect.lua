--[[
  Tells who holds the lock and who queues for it, and changes nothing.

  KEYS[1]  lock     hash: owner -> hold count
  KEYS[2]  counter  string: the last fencing token issued for this lock
  KEYS[3]  queue    zset: owner -> ticket, which is the server time in µs when it came
  KEYS[4]  waiting  hash: client -> until when its places are alive, and its label
  ARGV[1]  channel  where those who do not queue listen
  ARGV[2]  publish  PUBLISH or SPUBLISH, as releases are told there

  Returns
    { holder, holds, ttlMs, token, listeners, nowUs, queue, waiting }
    holder is '' when the lock is free, ttlMs as PTTL answers it, token '' when there is none;
    queue is owners and tickets in order, waiting is fields and values
]]
local lock, counter, queue, waiting = KEYS[1], KEYS[2], KEYS[3], KEYS[4]
local channel, publish = ARGV[1], ARGV[2]

-- include: parts/server-time.lua

-- include: parts/listeners.lua

-- include: parts/read-write.lua

local fields = redis.call('HGETALL', lock)
for i = 1, #fields, 2 do
  if fields[i] == 'mode' then
    return redis.error_reply(READ_WRITE)
  end
end
local nowText = serverTimeText()
return {
  fields[1] or '',
  fields[2] or '0',
  redis.call('PTTL', lock),
  redis.call('GET', counter) or '',
  listenersAt(channel, publish),
  nowText,
  redis.call('ZRANGE', queue, 0, -1, 'WITHSCORES'),
  redis.call('HGETALL', waiting),
}
