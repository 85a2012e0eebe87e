--[[
  Ends the hold of an owner and grants the lock to the next waiter of the queue. With the token '', the script also
  removes the owner from the queue.

  If the waiters behind the next holder belong to its client, this client may serve them without a request, under the
  owner of the grant. The script reserves a token for each of these waiters. They stay in the queue until a later
  release lists them as served. The client that releases the lock reads their owners in the answer. Another client reads
  their owners in the message of its grant.

  If the queue is empty, the lock becomes free. A message then wakes the callers that wait without queueing. Another
  message wakes the first waiter of Redisson's fair lock. Safe to run twice: a repeat finds nothing to end. A late
  release cannot end a newer hold of the same owner, because that hold has a newer token.

  KEYS[1]  lock           hash: owner -> hold count
  KEYS[2]  counter        string: the last fencing token issued for this lock
  KEYS[3]  queue          zset: owner -> ticket
  KEYS[4]  waiting        hash: client -> the server time in ms until which its places count
  KEYS[5]  javaQueue      list: the waiters of Redisson's fair lock
  KEYS[6]  javaTimeouts   zset: each of these waiters -> the time in ms after which it counts as dead
  ARGV[1]  owner          `<clientId>:<owner>`
  ARGV[2]  token          number or '': the token of the hold to end; '' ends every hold and place of the owner
  ARGV[3]  counterMs      how long the counter is kept from now, in milliseconds; 0 means forever
  ARGV[4]  claimMs        how long an unconfirmed grant lasts, in milliseconds
  ARGV[5]  inbox          the prefix of the inbox channels of the clients
  ARGV[6]  channel        the channel of the callers that do not queue
  ARGV[7]  publish        PUBLISH or SPUBLISH
  ARGV[8]  most           number: the most waiters that the client serves without a request after the next holder
  ARGV[*]  served         text[]: owners of this client that had the lock without a request, and are in the queue

  Returns
    { 'granted', owner: text, token >= 1 }  this owner holds the lock now. Its client gets a message, except if the same
                                            client released the lock with a token
    { 'run', owner: text, token >= 1, next: text }  the same for an owner of the client that released the lock. `next` has
                                            the next owners in the queue, separated by spaces. They belong to the same
                                            client, and their tokens are at most this token
    { 'freed', listeners }       the lock is free, and this many listeners were woken
    { 'gone' }                   the owner did not hold the lock, or not under that token
]]
local keys = {
  lock = KEYS[1],
  counter = KEYS[2],
  queue = KEYS[3],
  waiting = KEYS[4],
  javaQueue = KEYS[5],
  javaTimeouts = KEYS[6],
}
local owner, token, most = ARGV[1], ARGV[2], ARGV[8]
local channel, served = ARGV[6], { unpack(ARGV, 9) }
local terms = {
  counterMs = ARGV[3],
  claimMs = tonumber(ARGV[4]),
  inbox = ARGV[5],
  publish = ARGV[7],
}

-- include: parts/server-time.lua

-- include: parts/counter.lua

-- include: parts/token.lua

-- include: parts/issue-token.lua

-- include: parts/queue.lua

-- include: parts/wake-java.lua

-- include: parts/fair-release.lua

return releaseFair(keys, owner, token, most, served, channel, terms)
