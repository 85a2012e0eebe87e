--[[
  Runs `acquire`, `vote` and `release` for many locks in one request, in order. An error of one call does not affect
  the other calls.

  Safe to run twice, like each of these scripts.

  KEYS[*]  all         the two keys of each call, one call after the other
  ARGV[1]  notAfterUs  as in `acquire`; this argument and the next four apply to all calls
  ARGV[2]  counterMs   how long the counters are kept from now, in milliseconds; 0 means forever
  ARGV[3]  publish     PUBLISH or SPUBLISH
  ARGV[4]  birth       the key with the mark, which records from when this master may vote
  ARGV[5]  longestMs   number or '': the longest lease of this client, in milliseconds; '' if no call votes
  ARGV[6]  kinds       for each call the first letter of its script, and the number of its own arguments
  ARGV[*]  own         value[]: the own arguments of each call, in order, which are the arguments of its script that are
                       not listed above, except the channel

  Returns
    for each call the answer of its script, or { 'error', message }. A `granted` without reserved tokens is the
    token alone. A `freed` is the number of listeners alone
]]
local notAfterUs, counterMs, publish = ARGV[1], ARGV[2], ARGV[3]
local asVote, kinds = { birth = ARGV[4], longestMs = ARGV[5] }, ARGV[6]

-- include: parts/server-time.lua

-- include: parts/late.lua

-- include: parts/counter.lua

-- include: parts/token.lua

-- include: parts/issue-token.lua

-- include: parts/read-write.lua

-- include: parts/birth.lua

-- include: parts/replica.lua

-- include: parts/acquire.lua

-- include: parts/release.lua

local scripts = {
  a = function(lock, counter, owner, leaseMs, holds, reserve, token)
    return acquire(lock, counter, owner, leaseMs, notAfterUs, counterMs, holds, reserve, token)
  end,
  v = function(lock, counter, owner, leaseMs, holds, reserve, token)
    return acquire(
      lock, counter, owner, leaseMs, notAfterUs, counterMs, holds, reserve, token, asVote
    )
  end,
  r = function(lock, counter, owner, token, holds)
    -- The names of the counter and of the channel differ only in their prefix.
    local channel = string.gsub(counter, '^redisson_lock_token', 'redisson_lock__channel')
    return release(lock, counter, owner, token, channel, publish, holds, notAfterUs)
  end,
}

local replies = {}
local last = 6
for n = 1, #KEYS / 2 do
  local first = last + 1
  last = last + tonumber(string.sub(kinds, 2 * n, 2 * n))
  local run = scripts[string.sub(kinds, 2 * n - 1, 2 * n - 1)]
  local done, reply = pcall(run, KEYS[2 * n - 1], KEYS[2 * n], unpack(ARGV, first, last))
  if not done or reply.err then
    reply = { 'error', type(reply) == 'table' and reply.err or tostring(reply) }
  end
  -- A client reads one value three times as fast as a list of two values. So the reply has only the token for a
  -- `granted` without reserved tokens, and only the number of listeners for `freed`. The client distinguishes these
  -- values by their types, because the token is a string.
  local isUsual = reply[1] == 'granted' and not reply[3] or reply[1] == 'freed'
  replies[n] = isUsual and reply[2] or reply
end
return replies
