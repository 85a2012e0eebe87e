--[[
  Returns the holders of a read-write lock and its waiters. Changes nothing.

  KEYS[1]  lock     hash: `mode`, and owner -> hold count
  KEYS[2]  counter  string: the last fencing token issued for this lock
  KEYS[3]  readers  zset: member -> the server time in µs at which its wait to read began
  KEYS[4]  writers  zset: member -> the server time in µs at which its wait began, to write or for the upgradable lock
  KEYS[5]  alive    hash: member -> the server time in ms until which its place counts
  ARGV[1]  prefix   the prefix of the timeout keys of this lock
  ARGV[2]  most     number: the greatest number of waiters of each queue in the answer

  Returns
    { mode: text or '' as null, ttlMs >= -2, token: number or '' as null, nowUs,
      holds: pairs, leftMs: pairs, sinceUs: pairs, readers: pairs, writers: pairs }
                             `holds` has owners and hold counts. `leftMs` has each owner and the lease time left.
                             `sinceUs` has each reader and the value of its lease. For a reader of Holdfast, the value
                             is when the hold began. `readers` and `writers` have the members of these queues, and
                             since when they wait
]]
local keys = {
  lock = KEYS[1], counter = KEYS[2], readers = KEYS[3], writers = KEYS[4], alive = KEYS[5],
  prefix = ARGV[1],
}
local most = tonumber(ARGV[2])

-- include: parts/server-time.lua

-- include: parts/read-write-lock.lua

-- include: parts/read-write-leases.lua

-- include: parts/read-write-queues.lua

-- include: parts/read-write-turns.lua

local fields = redis.call('HGETALL', keys.lock)
local ttlMs = redis.call('PTTL', keys.lock)
local mode, holds, leftMs, sinceUs = '', {}, {}, {}
for i = 1, #fields, 2 do
  local field, count = fields[i], fields[i + 1]
  if field == 'mode' then
    mode = count
  else
    local left = isWriter(field) and ttlMs or readerTtlMs(keys, field, count)
    if left == -2 and isRenewedWithLock(field, count) then
      left = ttlMs
    end
    if left ~= -2 then
      holds[#holds + 1] = field
      holds[#holds + 1] = count
      leftMs[#leftMs + 1] = field
      leftMs[#leftMs + 1] = tostring(left)
      local since = not isWriter(field) and redis.call('GET', leaseKey(keys, field))
      if since then
        sinceUs[#sinceUs + 1] = field
        sinceUs[#sinceUs + 1] = since
      end
    end
  end
end
if mode == '' and #fields > 0 then
  return redis.error_reply(OTHER_LOCK)
end
local token = redis.call('GET', keys.counter) or ''
local readers = listWaiting(keys, keys.readers, most)
local writers = listWaiting(keys, keys.writers, most)
return { mode, ttlMs, token, serverTimeText(), holds, leftMs, sinceUs, readers, writers }
