-- A read-write lock of Redisson has a field `mode`. It looks at no other lock, and is refused.
local READ_WRITE = 'WRONGTYPE a read-write lock has this name'
