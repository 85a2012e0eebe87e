-- A read-write lock has a field `mode`. Redisson's read-write lock does not check for other locks, so scripts of other
-- locks refuse it.
local READ_WRITE = 'WRONGTYPE a read-write lock has this name'
