--[[
  Keeps a client's places in the queues of many locks, and moves on the queues that stand still.

  A place that is missing (its client was taken for dead, or Redis was emptied) is put back where it
  was. A lock that is free is given to the first in its queue. Safe to run twice. A request that was
  delayed on its way is refused by server time, for those who have left since.

  KEYS[*]  locks       for each lock: its hash, counter, queue and waiting
  ARGV[1]  client      the client's id
  ARGV[2]  notAfterUs  server time after which nothing is done, in µs; 0 is never
  ARGV[3]  listens     1 or '': whether the client hears what comes into its inbox
  ARGV[4]  label       what `inspect` shows for the process
  ARGV[5]  counterMs   how long the counter is kept from now, in milliseconds; 0 is for good
  ARGV[6]  claimMs     how long a grant stands before it is confirmed, in milliseconds
  ARGV[7]  aliveMs     how long a place is kept without a heartbeat, in milliseconds
  ARGV[8]  inbox       the prefix of the inbox channels of the clients
  ARGV[*]  places      { owner, ticket, claimMs: number or '' }[][]: for each lock how many places, and
                       for each its owner, its ticket, and its claim window where it wants a shorter one,
                       else ''

  Returns
    { 'done', answers[] }    for each lock one of these two
      { ttlMs >= -2, lastToken: number or '' as 0, first: text or '', granted: text or '', missing,
      holder: text or '' }
                             lastToken is of whoever has the lock, first the owner who heads the queue,
                             granted the owner of this client who has the lock, else '', missing how
                             many of these places were not there and are put back
      { error: text }        what is wrong with it
    { 'late', serverTimeUs >= 1 }  refused: it is later than notAfterUs
]]
local client, notAfterUs, listens, label = ARGV[1], tonumber(ARGV[2]), ARGV[3] == '1', ARGV[4]
local terms = {
  counterMs = ARGV[5],
  claimMs = tonumber(ARGV[6]),
  aliveMs = tonumber(ARGV[7]),
  inbox = ARGV[8],
}

-- include: parts/server-time.lua

-- include: parts/late.lua

-- include: parts/counter.lua

-- include: parts/token.lua

-- include: parts/queue.lua

-- include: parts/read-write.lua

local nowUs = serverTimeUs()
if isLate(notAfterUs) then
  return { 'late', serverTimeText() }
end

-- Puts those back who are missing, in as few commands as can be: mostly none is.
local function putBack(keys, from, count, holder)
  local missing, args = 0, {}
  for n = 0, count - 1 do
    if ARGV[from + 3 * n] ~= holder then
      args[#args + 1] = ARGV[from + 3 * n + 1]
      args[#args + 1] = ARGV[from + 3 * n]
    end
    if #args == 1000 or n == count - 1 and #args > 0 then
      missing = missing + redis.call('ZADD', keys.queue, 'NX', unpack(args))
      args = {}
    end
  end
  if missing == 0 then
    return 0
  end
  redis.call('PEXPIRE', keys.queue, terms.aliveMs * 2)
  for n = 0, count - 1 do
    local owner, claimMs = ARGV[from + 3 * n], ARGV[from + 3 * n + 2]
    if claimMs ~= '' and owner ~= holder then
      redis.call('HSET', keys.waiting, owner, claimMs)
    end
  end
  return missing
end

local function beat(keys, from, count)
  local ttlMs = redis.call('PTTL', keys.lock)
  local last = redis.call('GET', keys.counter)
  -- First: a full server refuses ZADD, but not in a script that has written something already.
  redis.call('ZREM', keys.queue, '')
  local fields = redis.call('HKEYS', keys.lock)
  local holder = fields[1]
  for _, field in ipairs(fields) do
    if field == 'mode' then
      return { READ_WRITE }
    end
  end
  local missing = putBack(keys, from, count, holder)
  if count > 0 then
    stayAlive(keys, client, listens, label, nowUs / 1000, terms)
  end
  if ttlMs == -2 then
    local following, token = grantNext(keys, last, nowUs, terms, client)
    if following then
      ttlMs, last, holder = redis.call('PTTL', keys.lock), token, following
    end
  end
  -- Whoever heads the queue looks when a claim window ends; it must not be one who is gone.
  local isClaim = ttlMs >= 0 and ttlMs <= terms.claimMs
  local first = isClaim and firstAlive(keys, nowUs, terms, client)
    or redis.call('ZRANGE', keys.queue, 0, 0)[1]
  local granted = holder and clientOf(holder) == client and holder
  return { ttlMs, last or '', first or '', granted or '', missing, holder or '' }
end

local answers, at = {}, 9
for i = 1, #KEYS, 4 do
  local keys =
    { lock = KEYS[i], counter = KEYS[i + 1], queue = KEYS[i + 2], waiting = KEYS[i + 3] }
  local count = tonumber(ARGV[at])
  -- What is wrong with one lock must not cost the others their places.
  local ok, answer = pcall(beat, keys, at + 1, count)
  at = at + 1 + 3 * count
  answers[#answers + 1] = ok and answer or { tostring(type(answer) == 'table' and answer.err or answer) }
end
return { 'done', answers }
