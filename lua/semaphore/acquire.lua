--[[
  Takes permits of a semaphore, or waits for them, after all who have waited for longer.

  Safe to run twice: what was taken is remembered under the owner's name, and told again. What was given back
  since is not taken again. Who does not wait is refused while anybody does; who waits is told on `tickets`
  when its turn has come, and nobody else takes meanwhile what it is to have.

  KEYS[1]   semaphore   string: how many permits are available
  KEYS[2]   queue       zset: client -> since when it waits, server time in µs
  KEYS[3]   alive       hash: client -> until when that counts, and how many permits are wanted
  KEYS[4]   kind        string: which kind has set the number
  KEYS[5]   request     string: what was taken in this owner's name, or 'returned'
  KEYS[*]   answered    the requests of this client whose answers it has
  ARGV[1]   owner       `<clientId>:<owner>:<permits>`
  ARGV[2]   notAfterUs  server time after which nothing is taken, in µs; 0 is never
  ARGV[3]   client      its client, where it waits; '' where it does not
  ARGV[4]   last        1 or '': whether nobody else of its client waits
  ARGV[5]   waitingMs   for how long it counts as waiting, in milliseconds
  ARGV[6]   since       since when it waits, as an earlier run has told it; '' for none
  ARGV[7]   waitedMs    for how long it has waited, in milliseconds, where that was not told, or is ahead of now
  ARGV[8]   tickets     the channel on which clients are told that it is their turn
  ARGV[9]   publish     PUBLISH or SPUBLISH
  ARGV[10]  keptMs      how long it is remembered that it was taken, in milliseconds

  Returns
    { 'granted' }                  they are the owner's
    { 'held', ttlMs >= -1, since: digits or '', isSet: 1 or 0, available: number >= -9007199254740991 }
                                   they are not to be had now; it is worth looking again after ttlMs, when the
                                   one who is next may be dead, -1 is not known; since when its client waits
    { 'late', serverTimeUs >= 1 }  refused: it is later than notAfterUs
]]
local keys = { semaphore = KEYS[1], queue = KEYS[2], alive = KEYS[3], kind = KEYS[4], request = KEYS[5] }
local owner, notAfterUs, client, last = ARGV[1], tonumber(ARGV[2]), ARGV[3], ARGV[4] == '1'
local waitingMs, since, waitedMs = tonumber(ARGV[5]), ARGV[6], tonumber(ARGV[7])
local tickets, publish, keptMs = ARGV[8], ARGV[9], ARGV[10]

-- include: parts/server-time.lua

-- include: parts/late.lua

-- include: parts/waiting-clients.lua

-- include: parts/kind.lua

-- include: parts/available.lua

-- include: parts/answered.lua

local permits = tonumber(string.match(owner, '%d+$'))
local available, isSet = availableIn(keys.semaphore, keys.kind, 'semaphore')
if not available then
  return isSet
end
if not isSet then
  -- It changes nothing. A replica refuses it, because it may not have received the number yet.
  redis.call('ZREM', keys.queue, '')
end
local taken = redis.call('GET', keys.request)
forget(unpack(KEYS, 6))
if taken == 'returned' then
  return { 'held', -1, '', isSet and 1 or 0, available }
elseif taken then
  redis.call('PEXPIRE', keys.request, keptMs)
  return { 'granted' }
elseif isLate(notAfterUs) then
  return { 'late', serverTimeText() }
end

local sinceUs = sinceOf(since, waitedMs)
local wasFirst = client ~= '' and firstOf(keys) == client
if available >= permits and isNext(keys, client, sinceUs) then
  redis.call('DECRBY', keys.semaphore, permits)
  redis.call('SET', keys.request, permits, 'PX', keptMs)
  keepKind(keys.kind)
  if client ~= '' then
    wentOn(keys, client, last, waitingMs)
  end
  tellNext(keys, publish, tickets, available - permits, not last and client)
  return { 'granted' }
end
if client == '' then
  return { 'held', -1, '', isSet and 1 or 0, available }
end
waits(keys, client, sinceUs, permits, waitingMs)
local first, _, _, untilMs = firstOf(keys)
-- It stood where another of its waiters had stood, who had waited for longer.
if wasFirst and first ~= client then
  tellNext(keys, publish, tickets, available)
end
local ttlMs = first ~= client and math.max(math.ceil(untilMs + 1 - serverTimeUs() / 1000), 0) or -1
return { 'held', ttlMs, string.format('%.0f', sinceUs), isSet and 1 or 0, available }
