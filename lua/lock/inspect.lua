--[[
  Tells who holds the lock and who queues for it, and changes nothing.

  KEYS[1]  lock     hash: owner -> hold count
  KEYS[2]  counter  string: the last fencing token issued for this lock
  KEYS[3]  queue    zset: owner -> ticket, which is the server time in µs when it came
  KEYS[4]  waiting  hash: client -> until when its places are alive, and its label
  ARGV[1]  channel  where those who do not queue listen
  ARGV[2]  publish  PUBLISH or SPUBLISH, as releases are told there
  ARGV[3]  most     number: how many of those who queue are wanted

  Returns
    { holder: text or '' as null, holds, ttlMs >= -2, token: number or '' as null,
      listeners, nowUs, queue: pairs, waiting: pairs, length }
                             the first four are those of `peek`; queue is owners and tickets in order, the
                             first ones; waiting is fields and values for their clients; length is how
                             many queue
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
