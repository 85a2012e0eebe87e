--[[
  Runs `acquire` and `release` for many calls in one request, in order. An error of one call does not affect the other
  calls.

  Several calls may be for one lock. If they queue, they get consecutive places, because no other request runs in
  between. Safe to run twice, like both scripts.

  KEYS[*]  all         the keys of each call, one call after the other
  ARGV[1]  notAfterUs  as in `acquire`; this argument and the next five apply to all calls
  ARGV[2]  counterMs   how long the counters are kept from now, in milliseconds; 0 means forever
  ARGV[3]  claimMs     how long an unconfirmed grant lasts, in milliseconds
  ARGV[4]  aliveMs     how long a place is kept without a heartbeat, in milliseconds
  ARGV[5]  inbox       the prefix of the inbox channels of the clients
  ARGV[6]  publish     PUBLISH or SPUBLISH
  ARGV[7]  kinds       for each call the first letter of its script, and the number of its own arguments
  ARGV[*]  own         value[]: the own arguments of each call, in order, which are the arguments of its script that are
                       not listed above, except the channel

  Returns
    for each call the answer of its script, or { 'error', message }. A `granted` of `acquire` is the token alone. A
    `freed` is the number of listeners alone
]]
local notAfterUs, kinds = tonumber(ARGV[1]), ARGV[7]
local terms = {
  counterMs = ARGV[2],
  claimMs = tonumber(ARGV[3]),
  aliveMs = tonumber(ARGV[4]),
  inbox = ARGV[5],
  publish = ARGV[6],
}

-- include: parts/server-time.lua

-- include: parts/late.lua

-- include: parts/counter.lua

-- include: parts/token.lua

-- include: parts/issue-token.lua

-- include: parts/queue.lua

-- include: parts/queue-places.lua

-- include: parts/read-write.lua

-- include: parts/replica.lua

-- include: parts/wake-java.lua

-- include: parts/fair-acquire.lua

-- include: parts/fair-release.lua

local scripts = {
  a = function(keys, owner, leaseMs, ticket, listens, label)
    return acquireFair(
      keys, owner, tonumber(leaseMs), ticket, notAfterUs, listens == '1', label, terms
    )
  end,
  r = function(keys, owner, token, most, ...)
    -- The names of the counter and of the channel differ only in their prefix.
    local channel = string.gsub(keys.counter, '^redisson_lock_token', 'redisson_lock__channel')
    return releaseFair(keys, owner, token, most, { ... }, channel, terms)
  end,
}

local replies, key, last = {}, 0, 7
for kind, count in string.gmatch(kinds, '(%a)(%d+)') do
  local keys = {
    lock = KEYS[key + 1],
    counter = KEYS[key + 2],
    queue = KEYS[key + 3],
    waiting = KEYS[key + 4],
  }
  key = key + 4
  if kind == 'r' then
    keys.javaQueue, keys.javaTimeouts = KEYS[key + 1], KEYS[key + 2]
    key = key + 2
  end
  local first = last + 1
  last = last + tonumber(count)
  local done, reply = pcall(scripts[kind], keys, unpack(ARGV, first, last))
  if not done or reply.err then
    reply = { 'error', type(reply) == 'table' and reply.err or tostring(reply) }
  end
  -- A client reads one value three times as fast as a list of two values. The client distinguishes these values by
  -- their types: the token is a string, and the number of listeners is a number.
  local isUsual = reply[1] == 'granted' and not reply[3] or reply[1] == 'freed'
  replies[#replies + 1] = isUsual and reply[2] or reply
end
return replies
