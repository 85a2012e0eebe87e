--[[
  Acquires permits of a semaphore, or waits for them behind all clients that have waited longer.

  Safe to run twice: the number of taken permits is stored under the name of the owner, and a repeat gets the same
  answer. Permits that were given back since are not taken again. A call that does not wait is refused while any client
  waits. A waiting client is woken on `tickets` when it is next. Until then, no other client takes its permits.

  KEYS[1]   semaphore   string: how many permits are available
  KEYS[2]   queue       zset: client -> the server time in µs at which its wait began
  KEYS[3]   alive       hash: client -> the server time in ms until which its place counts, and the permits it wants
  KEYS[4]   kind        string: the kind of object that the number belongs to: `latch`, `permits` or `semaphore`
  KEYS[5]   request     string: the number of permits taken in this owner's name, or 'returned'
  KEYS[*]   answered    the keys of requests whose answers this client has received
  ARGV[1]   owner       `<clientId>:<owner>:<permits>`
  ARGV[2]   notAfterUs  server time after which nothing is taken, in µs; 0 means no limit
  ARGV[3]   client      the client of the owner if the call waits; '' if it does not wait
  ARGV[4]   last        1 or '': 1 if no other call of the client waits
  ARGV[5]   waitingMs   how long the place counts, in milliseconds
  ARGV[6]   since       when the wait began, from an earlier answer; '' without an earlier answer
  ARGV[7]   waitedMs    how long the call has waited, in milliseconds; used if `since` is '' or ahead of now
  ARGV[8]   tickets     the channel that wakes the next client
  ARGV[9]   publish     PUBLISH or SPUBLISH
  ARGV[10]  keptMs      how long the number of taken permits is stored, in milliseconds
  ARGV[11]  behindPermits=0   how many permits the next waiting call of the client wants; 0 if no other call waits
  ARGV[12]  behindWaitedMs=0  how long this next call has waited, in milliseconds

  Returns
    { 'granted' }                  the owner has its permits
    { 'granted-and-waits', ttlMs >= -1, since: digits, isFirst: 1 or 0,
      available: number >= -9007199254740991 }  the owner has its permits, and the next call of the client now has the
                             place of the client. This call asks again after ttlMs, or when it is woken. `isFirst` is
                             1 if no other client is before this client
    { 'held', ttlMs >= -1, since: digits or '', isSet: 1 or 0, available: number >= -9007199254740991 }  the owner
                             cannot have the permits now. A call that waits asks again after ttlMs, because the client
                             that is next may be gone then; -1 means that no time is known. `since` is when the client
                             began to wait
    { 'late', serverTimeUs >= 1 }  refused: the server time is after notAfterUs
]]
local keys = { semaphore = KEYS[1], queue = KEYS[2], alive = KEYS[3], kind = KEYS[4] }
local call = {
  taking = KEYS[5], owner = ARGV[1], notAfterUs = tonumber(ARGV[2]), client = ARGV[3], isLast = ARGV[4] == '1',
  aliveMs = tonumber(ARGV[5]), since = ARGV[6], waitedMs = tonumber(ARGV[7]), keptMs = ARGV[10],
  behindPermits = tonumber(ARGV[11] or 0), behindWaitedMs = tonumber(ARGV[12] or 0),
}
local tickets, publish = ARGV[8], ARGV[9]

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
local taken = redis.call('GET', call.taking)
forget(unpack(KEYS, 6))
local answer, left, mayWakeNext, exceptClient = acquirePlain(keys, call, taken, available, isSet)
if mayWakeNext then
  tellNext(keys, publish, tickets, left, exceptClient)
end
return answer
