--[[
  Runs `acquire`, `vote` and `release` for many locks in one request, one after the other. What
  becomes of one of them is nothing to the others.

  Safe to run twice, as each of them is.

  KEYS[*]  both        the two keys of each call, one call after the other
  ARGV[1]  notAfterUs  for all that take it, as are the next four
  ARGV[2]  counterMs   how long the counters are kept from now, in milliseconds; 0 is for good
  ARGV[3]  publish     PUBLISH or SPUBLISH
  ARGV[4]  birth       the key that tells since when this master may vote
  ARGV[5]  longestMs   number or '': the longest lease that this client takes, in milliseconds; '' where
                       none of them votes
  ARGV[6]  kinds       of each call the first letter of its script, and how many arguments follow
  ARGV[*]  own         value[]: these, one call after the other: all but those above, and the channel

  Returns
    for each call what its script returns, or { 'error', message }; but the token alone where there is
    nothing else to `granted`, and for `freed` the number alone
]]
local notAfterUs, counterMs, publish = ARGV[1], ARGV[2], ARGV[3]
local asVote, kinds = { birth = ARGV[4], longestMs = ARGV[5] }, ARGV[6]

-- include: parts/server-time.lua

-- include: parts/late.lua

-- include: parts/counter.lua

-- include: parts/token.lua

-- include: parts/read-write.lua

-- include: parts/birth.lua

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
    -- Both are named after the lock in the same way.
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
  -- In short, for reading two parts and a list takes a client three times as long as one part: a
  -- string is a token, a number counts listeners.
  local isUsual = reply[1] == 'granted' and not reply[3] or reply[1] == 'freed'
  replies[n] = isUsual and reply[2] or reply
end
return replies
