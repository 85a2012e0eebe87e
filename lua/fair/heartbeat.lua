--[[
  Keeps the places of a client in the queues of many locks, and grants the locks of these queues that are free.

  A place can be missing, because the client was taken for dead or Redis was emptied. The script restores a missing
  place in the order of its ticket. Safe to run twice. The script refuses a delayed request by server time, because
  waiters may have left since.

  KEYS[*]  locks       for each lock: its hash, counter, queue and waiting
  ARGV[1]  client      the client's id
  ARGV[2]  notAfterUs  server time after which nothing changes, in µs; 0 means no limit
  ARGV[3]  listens     1 or '': 1 if the client listens to its inbox
  ARGV[4]  label       the name of the process in `inspect`
  ARGV[5]  counterMs   how long the counter is kept from now, in milliseconds; 0 means forever
  ARGV[6]  claimMs     how long an unconfirmed grant lasts, in milliseconds
  ARGV[7]  aliveMs     how long a place is kept without a heartbeat, in milliseconds
  ARGV[8]  inbox       the prefix of the inbox channels of the clients
  ARGV[*]  places      { owner, ticket, claimMs: number or '' }[][]: for each lock the number of places, and for each
                       place its owner, its ticket, and its claim window if this is shorter than the `claimMs` above,
                       otherwise ''

  Returns
    { 'done', answers[] }    for each lock one of these two
      { ttlMs >= -2, lastToken: number or '' as 0, first: text or '', granted: text or '', missing,
      holder: text or '' }
                             `lastToken` is the token of the holder. `first` is the owner at the head of the queue.
                             `granted` is the holder if it belongs to this client, or ''. `missing` is the number of
                             places that were missing and are restored
      { error: text }        the error of this lock
    { 'late', serverTimeUs >= 1 }  refused: the server time is after notAfterUs
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

-- include: parts/issue-token.lua

-- include: parts/queue.lua

-- include: parts/queue-places.lua

-- include: parts/read-write.lua

local nowUs = serverTimeUs()
if isLate(notAfterUs) then
  return { 'late', serverTimeText() }
end

-- Returns the first live owner of the queue, and removes the dead owners before this owner. Owners of the client of this
-- request count as alive. Returns nothing after 100 dead owners.
local function firstAlive(keys)
  for _ = 1, 100 do
    local owner = redis.call('ZRANGE', keys.queue, 0, 0)[1]
    local of = owner and clientOf(owner)
    if not owner or of == client then
      return owner
    end
    if isAlive(of, redis.call('HGET', keys.waiting, of), nowUs, terms) then
      return owner
    end
    redis.call('ZREM', keys.queue, owner)
    redis.call('HDEL', keys.waiting, owner)
  end
end

-- Restores missing places, and returns their number. One ZADD handles at most 500 places.
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
  -- A server with full memory refuses ZADD as the first write of a script. So this ZREM comes first, and changes
  -- nothing.
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
    stayAlive(keys, client, listens, label, terms)
  end
  if ttlMs == -2 then
    local following, token = grantNext(keys, last, terms, client)
    if following then
      ttlMs, last, holder = redis.call('PTTL', keys.lock), token, following
    end
  end
  -- When a claim window ends, the client of the first owner in the queue checks the lock. So `firstAlive` removes
  -- owners of dead clients from the head of the queue.
  local isClaim = ttlMs >= 0 and ttlMs <= terms.claimMs
  local first = isClaim and firstAlive(keys)
    or redis.call('ZRANGE', keys.queue, 0, 0)[1]
  local granted = holder and clientOf(holder) == client and holder
  return { ttlMs, last or '', first or '', granted or '', missing, holder or '' }
end

local answers, at = {}, 9
for i = 1, #KEYS, 4 do
  local keys =
    { lock = KEYS[i], counter = KEYS[i + 1], queue = KEYS[i + 2], waiting = KEYS[i + 3] }
  local count = tonumber(ARGV[at])
  -- With pcall, an error of one lock does not affect the other locks.
  local ok, answer = pcall(beat, keys, at + 1, count)
  at = at + 1 + 3 * count
  answers[#answers + 1] = ok and answer or { tostring(type(answer) == 'table' and answer.err or answer) }
end
return { 'done', answers }
