--[[
  Adds permits to a semaphore, and acquires permits for a waiter of the same client, if this client is next. So a client
  needs one request to hand a permit over from one of its calls to another.

  Safe to run twice: both results are stored, each under its own name. The waiter does not overtake another client. If
  another client is next, the script adds the permits and wakes that client.

  KEYS[1]   semaphore   string: how many permits are available
  KEYS[2]   queue       zset: client -> the server time in µs at which its wait began
  KEYS[3]   alive       hash: client -> the server time in ms until which its place counts, and the permits it wants
  KEYS[4]   kind        string: the kind of object that the number belongs to: `latch`, `permits` or `semaphore`
  KEYS[5]   request     string: 1 if this request has added the permits, 0 if there was no such semaphore
  KEYS[6]   taking      string: the number of permits taken in the owner's name, or 'returned'
  KEYS[*]   answered    the keys of requests whose answers this client has received
  ARGV[1]   permits     number: how many are added
  ARGV[2]   ifExists    1 or '': 1 if the request must not create the semaphore
  ARGV[3]   owner       `<clientId>:<owner>:<permits>` of the waiter
  ARGV[4]   notAfterUs  server time after which nothing is added or taken, in µs; 0 means no limit
  ARGV[5]   client      the client of the waiter
  ARGV[6]   last        1 or '': 1 if no other call of the client waits
  ARGV[7]   waitingMs   how long the place counts, in milliseconds
  ARGV[8]   since       when the wait began, from an earlier answer; '' without an earlier answer
  ARGV[9]   waitedMs    how long the call has waited, in milliseconds; used if `since` is '' or ahead of now
  ARGV[10]  channel     the channel on which Redisson's clients learn how many permits are available
  ARGV[11]  tickets     the channel that wakes the next client
  ARGV[12]  publish     PUBLISH or SPUBLISH
  ARGV[13]  keptMs      how long the results are stored, in milliseconds
  ARGV[14]  behindPermits=0   how many permits the next waiting call of the client wants; 0 if no other call waits
  ARGV[15]  behindWaitedMs=0  how long this next call has waited, in milliseconds

  Returns
    { 'granted', isAdded: 1 or 0 }  the owner has its permits. `isAdded` is 1 if this request, or its earlier run, has
                                    added permits, and 0 if there is no such semaphore
    { 'granted-and-waits', isAdded: 1 or 0, ttlMs >= -1, since: digits, isFirst: 1 or 0,
      available: number >= -9007199254740991 }  as semaphore/acquire.lua returns it
    { 'held', isAdded: 1 or 0, ttlMs >= -1, since: digits or '', isSet: 1 or 0,
      available: number >= -9007199254740991 }  as semaphore/acquire.lua returns it
    { 'late', serverTimeUs >= 1 }   refused: the server time is after notAfterUs
]]
local keys = { semaphore = KEYS[1], queue = KEYS[2], alive = KEYS[3], kind = KEYS[4], request = KEYS[5] }
local permits, ifExists = ARGV[1], ARGV[2] == '1'
local call = {
  taking = KEYS[6], owner = ARGV[3], notAfterUs = tonumber(ARGV[4]), client = ARGV[5], isLast = ARGV[6] == '1',
  aliveMs = tonumber(ARGV[7]), since = ARGV[8], waitedMs = tonumber(ARGV[9]), keptMs = ARGV[13],
  behindPermits = tonumber(ARGV[14] or 0), behindWaitedMs = tonumber(ARGV[15] or 0),
}
local channel, tickets, publish, keptMs = ARGV[10], ARGV[11], ARGV[12], ARGV[13]

-- include: parts/server-time.lua

-- include: parts/late.lua

-- include: parts/waiting-clients.lua

-- include: parts/kind.lua

-- include: parts/available.lua

-- include: parts/answered.lua

-- include: parts/replica.lua

-- include: parts/acquire-plain-permits.lua

local available, isSet = availableIn(keys.semaphore, keys.kind, 'semaphore')
if not available then
  return isSet
end
local done, taken = redis.call('GET', keys.request), redis.call('GET', call.taking)
if isLate(call.notAfterUs) then
  return { 'late', serverTimeText() }
end
-- A server with full memory refuses INCRBY as the first write of a script. So this ZREM comes first, and changes
-- nothing.
redis.call('ZREM', keys.queue, '')
forget(unpack(KEYS, 7))
local before = available
if done then
  redis.call('PEXPIRE', keys.request, keptMs)
elseif ifExists and not isSet then
  done = '0'
  redis.call('SET', keys.request, done, 'PX', keptMs)
else
  done = '1'
  available = redis.call('INCRBY', keys.semaphore, permits)
  if not isSet then
    isSet = true
    noteKind(keys.kind, 'semaphore')
  end
  redis.call('SET', keys.request, done, 'PX', keptMs)
end
local answer, left, _, exceptClient = acquirePlain(keys, call, taken, available, isSet)
-- Redisson's clients are informed only if more permits are available than before.
if left > before then
  tellOthers(publish, channel, left)
end
tellNext(keys, publish, tickets, left, exceptClient)
table.insert(answer, 2, tonumber(done))
return answer
