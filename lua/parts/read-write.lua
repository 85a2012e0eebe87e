-- Only a read-write lock has a field `mode`. Scripts of other locks refuse such a lock, because Redisson's read-write
-- lock does not check for other locks.
local READ_WRITE = 'WRONGTYPE a read-write lock has this name'
