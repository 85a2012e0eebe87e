--[[
  Sets or changes the number of permits of a semaphore, takes away the available permits, or deletes the semaphore with
  all taken permits.

  Safe to run twice: the result is stored under the name of the request as long as the request may be sent again.

  KEYS[1]  pool        string: how many permits are available
  KEYS[2]  timeouts    zset: id of a permit -> the server time in ms at which its lease ends
  KEYS[3]  queue       zset: client -> the server time in µs at which its wait began
  KEYS[4]  alive       hash: client -> the server time in ms until which its place counts, and the permits it wants
  KEYS[5]  request     string with an expiry: the result of this request
  KEYS[6]  holders     hash: the first 24 hex digits of an id -> the owner of the permit, and when its hold began, in µs
  KEYS[7]  kind        string: the kind of object that the number belongs to: `latch`, `permits` or `semaphore`
  ARGV[1]  how         'try-set' or 'set' or 'add' or 'drain' or 'delete': try-set sets the total number if no client
                       has set it; set always sets it; add changes it by `permits`; drain takes away the available
                       permits; delete deletes the semaphore
  ARGV[2]  permits     number: the total number, or the change of it, which can be below 0
  ARGV[3]  notAfterUs  server time after which nothing is changed, in µs; 0 means no limit
  ARGV[4]  channel     the channel on which Redisson's clients learn how many permits are available
  ARGV[5]  publish     PUBLISH or SPUBLISH
  ARGV[6]  tickets     the channel that wakes the next client
  ARGV[7]  keptMs      how long the result is stored, in milliseconds

  Returns
    { 'done', permits }  for drain: how many permits it took away; for the others 1, or 0 if try-set or delete changed
                         nothing
    { 'late', serverTimeUs >= 1 }  refused: the server time is after notAfterUs
]]
local keys = {
  pool = KEYS[1], timeouts = KEYS[2], queue = KEYS[3], alive = KEYS[4], request = KEYS[5], holders = KEYS[6],
  kind = KEYS[7],
}
local how, permits, notAfterUs = ARGV[1], tonumber(ARGV[2]), tonumber(ARGV[3])
local channel, publish, tickets, keptMs = ARGV[4], ARGV[5], ARGV[6], ARGV[7]

-- include: parts/server-time.lua

-- include: parts/late.lua

-- include: parts/waiting-clients.lua

-- include: parts/kind.lua

-- include: parts/available.lua

-- include: parts/permits.lua

local done = redis.call('GET', keys.request)
if done then
  return { 'done', done }
end
if isLate(notAfterUs) then
  return { 'late', serverTimeText() }
end
local available, isSet = availableIn(keys.pool, keys.kind, 'permits')
if not available then
  return isSet
end
if how == 'try-set' and isSet then
  keepKind(keys.kind)
  redis.call('SET', keys.request, 0, 'PX', keptMs)
  return { 'done', 0 }
elseif how == 'delete' then
  local deleted = redis.call('UNLINK', keys.pool, keys.timeouts)
  redis.call('UNLINK', keys.holders, keys.kind)
  redis.call('SET', keys.request, math.min(deleted, 1), 'PX', keptMs)
  -- The script wakes the next client, because the request of this client may set the number of permits again.
  local first = firstOf(keys)
  if first then
    redis.call(publish, tickets, first)
  end
  return { 'done', math.min(deleted, 1) }
end
if isSet then
  -- A server with full memory refuses INCRBY as the first write of a script. So this ZREM comes first, and changes
  -- nothing.
  redis.call('ZREM', keys.queue, '')
end
local expired = giveBackExpired(keys)
available = available + expired
local taken = redis.call('ZCARD', keys.timeouts)

local by, result = permits - available - taken, 1
if how == 'add' then
  by = permits
elseif how == 'drain' then
  result = math.max(available, 0)
  by = 0 - result
end
-- INCRBY creates a missing number, even with 0. A drain must not create a missing number.
if isSet or expired > 0 or how ~= 'drain' then
  available = redis.call('INCRBY', keys.pool, string.format('%.0f', by))
end
if how ~= 'drain' then
  noteKind(keys.kind, 'permits')
end
redis.call('SET', keys.request, result, 'PX', keptMs)

if by > 0 or expired > 0 then
  tellOthers(publish, channel, available)
end
local first, _, wanted = firstOf(keys)
-- If the next client wants more permits than there are in total, the script wakes this client too. The answer to its
-- next request is then `too-many`, unless the total is 0 or less.
if first and (wanted <= available or wanted > available + taken) then
  redis.call(publish, tickets, first)
end
return { 'done', result }
