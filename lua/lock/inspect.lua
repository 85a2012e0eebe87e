--[[
  Returns the holder of the lock and the waiters of its queue. Changes nothing.

  KEYS[1]  lock     hash: owner -> hold count
  KEYS[2]  counter  string: the last fencing token issued for this lock
  KEYS[3]  queue    zset: owner -> ticket: the server time in µs at which the owner joined the queue
  KEYS[4]  waiting  hash: client -> the server time in ms until which its places count, and its label
  ARGV[1]  channel  the channel of the callers that do not queue
  ARGV[2]  publish  PUBLISH or SPUBLISH, the command that publishes releases
  ARGV[3]  most     number: the greatest number of waiters in the answer

  Returns
    { holder: text or '' as null, holds, ttlMs >= -2, token: number or '' as null,
      listeners, nowUs, queue: pairs, waiting: pairs, length }
                             The first four fields are as in `peek`. `queue` has the owners and tickets of the first
                             waiters, in order. `waiting` has the clients of these waiters, and the value of each client
                             in the hash. `length` is the number of all waiters in the queue
]]
local lock, counter, queue, waiting = KEYS[1], KEYS[2], KEYS[3], KEYS[4]
local channel, publish, most = ARGV[1], ARGV[2], tonumber(ARGV[3])

-- include: parts/server-time.lua

-- include: parts/listeners.lua

-- include: parts/read-write.lua

-- include: parts/peek.lua

local facts = peek(lock, counter)
if facts.err then
  return facts
end
local entries = redis.call('ZRANGE', queue, 0, most - 1, 'WITHSCORES')
local marks, isKnown = {}, {}
for i = 1, #entries, 2 do
  local client = string.match(entries[i], '^[^:]*')
  if not isKnown[client] then
    isKnown[client] = true
    marks[#marks + 1] = client
    marks[#marks + 1] = redis.call('HGET', waiting, client) or ''
  end
end
for _, fact in ipairs({
  listenersAt(channel, publish),
  serverTimeText(),
  entries,
  marks,
  redis.call('ZCARD', queue),
}) do
  facts[#facts + 1] = fact
end
return facts
