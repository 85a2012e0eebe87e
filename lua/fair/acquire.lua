--[[
  Acquires the lock in FIFO order. If the lock is held, or other owners queue for it, the owner joins the queue.

  The same request also confirms a grant, and finds a grant whose message was lost. Safe to run twice: a repeat finds
  the owner in the queue or in the lock, and gives the same answer. If the lock is free, the script first grants the
  lock to the head of the queue. So the next waiter gets the lock even if the last holder did not release it. The script
  refuses a delayed request by server time, because the caller of such a request has given up.

  KEYS[1]   lock        hash: owner -> hold count
  KEYS[2]   counter     string: the last fencing token issued for this lock
  KEYS[3]   queue       zset: owner -> ticket
  KEYS[4]   waiting     hash: client -> the server time in ms until which its places count
  ARGV[1]   owner       `<clientId>:<owner>`
  ARGV[2]   leaseMs     the lease that the owner wants, in milliseconds
  ARGV[3]   ticket      the ticket of an earlier answer; '' without an earlier answer; 'try' if the call does not wait
  ARGV[4]   notAfterUs  server time after which nothing changes, in µs; 0 means no limit
  ARGV[5]   listens     1 or '': 1 if the client listens to its inbox
  ARGV[6]   label       the name of the process in `inspect`
  ARGV[7]   counterMs   how long the counter is kept from now, in milliseconds; 0 means forever
  ARGV[8]   claimMs     how long an unconfirmed grant lasts, in milliseconds
  ARGV[9]   aliveMs     how long a place is kept without a heartbeat, in milliseconds
  ARGV[10]  inbox       the prefix of the inbox channels of the clients

  Returns
    { 'granted', token >= 1 }  the owner holds the lock for its lease
    { 'held', ttlMs >= -1, holder: text or '', ageMs: number or '' as null, length }  the owner cannot have the lock
                             now; a ttlMs of -1 means no expiry. The holder has held the lock for ageMs, computed from
                             its token; '' without a token. `length` is the number of waiters in the queue
    { 'queued', ticket: digits, lastToken: number or '' as 0, ttlMs >= -1, first: 1 or 0,
      holder: text or '', ageMs: number or '' as null, position: number or '' as null }
                             the owner waits. `lastToken` is the token of the holder, '' if the counter is lost.
                             `first` is 1 if no other owner is before this owner. `position` is the position of the
                             owner in the queue, from 1. It is '' if the request has a ticket, or if other owners are
                             behind this owner
    { 'late', serverTimeUs >= 1 }  refused: the server time is after notAfterUs
]]
local keys = { lock = KEYS[1], counter = KEYS[2], queue = KEYS[3], waiting = KEYS[4] }
local owner, leaseMs, ticket = ARGV[1], tonumber(ARGV[2]), ARGV[3]
local notAfterUs, listens, label = tonumber(ARGV[4]), ARGV[5] == '1', ARGV[6]
local terms = {
  counterMs = ARGV[7],
  claimMs = tonumber(ARGV[8]),
  aliveMs = tonumber(ARGV[9]),
  inbox = ARGV[10],
}

-- include: parts/server-time.lua

-- include: parts/late.lua

-- include: parts/counter.lua

-- include: parts/token.lua

-- include: parts/issue-token.lua

-- include: parts/queue.lua

-- include: parts/queue-places.lua

-- include: parts/read-write.lua

-- include: parts/replica.lua

-- include: parts/fair-acquire.lua

return acquireFair(keys, owner, leaseMs, ticket, notAfterUs, listens, label, terms)
