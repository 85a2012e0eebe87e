-- Included by the scripts of the read-write lock, after parts/server-time.lua. The parts read-write-leases,
-- read-write-queues and read-write-turns follow, in this order. `keys` are the keys of one lock. `prefix` is the prefix
-- of its timeout keys.
--
-- `lock`     hash: `mode` -> read or write, reader -> hold count, `<owner>:write` -> hold count of the writer.
-- `<prefix>:<reader>:rwlock_timeout:<n>`   string with an expiry: the lease of the n-th hold of a reader. Redisson
--            writes such a key for each hold, with the value 1. Holdfast writes only the key for n = 1. Its value is
--            the server time in µs when the reader got the lock.
-- `readers`  zset: client -> the server time in µs at which its wait to read began.
-- `writers`  zset: the queue of the waiters that exclude each other: member -> the server time in µs at which its wait
--            began. The member is the client if it waits to write, and `<client>:upgradable` if it waits for the
--            upgradable lock. If an owner already holds another side of the lock, the member is the owner, in either
--            queue. The score of an owner that holds the upgradable lock and waits to write is 3.
-- `alive`    hash: member of either queue -> the server time in ms until which its place counts.
-- `phase`    string with an expiry, set if readers wait when a write hold ends. While it exists, no plain reader waits
--            for the queue of the writers. It is deleted when no reader waits any more.

-- If a lock has no field `mode`, it is not a read-write lock.
local OTHER_LOCK = 'WRONGTYPE a lock that is no read-write lock has this name'

-- The score of an owner that holds the upgradable lock and waits to write. Other scores are times, so this owner comes
-- before all other members.
local GOES_ON = '3'

local function isWriter(field)
  return string.sub(field, -6) == ':write'
end
