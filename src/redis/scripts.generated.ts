// Generated from lua/*.lua by `npm run lua`. Do not edit.

export const acquire = {
  name: "acquire",
  keys: ["lock","counter"],
  args: ["owner","leaseMs","holds","notAfterUs","counterMs"],
  sha1: "d8374af5b9bec3acb91b891974ff23894b13dc7b",
  source: "--[[\n  Takes the lock for an owner, or re-enters it.\n\n  Safe to run twice: the caller states the hold count it wants afterwards, so a repeat finds that\n  count already there, changes nothing and answers the same. A first acquisition that was delayed\n  on its way (the caller has given up by now) is refused by server time.\n  The token is max(previous + 1, server time in µs): it rises even when the counter was lost.\n\n  KEYS[1]  lock        hash: owner -> hold count\n  KEYS[2]  counter     string: the last fencing token issued for this lock\n  ARGV[1]  owner       `<clientId>:<owner>`\n  ARGV[2]  leaseMs     the key lives at least this long from now, in milliseconds\n  ARGV[3]  holds       the hold count wanted after this call; 1 is a first acquisition\n  ARGV[4]  notAfterUs  server time after which a first acquisition is refused, in µs; 0 is never\n  ARGV[5]  counterMs   how long the counter is kept from now, in milliseconds\n\n  Returns\n    { 'granted', token }     it is the owner's; the token is '' for a re-entry\n    { 'held', ttlMs }        somebody else has it for ttlMs more; -1 means without an expiry\n    { 'gone' }               a re-entry, but the owner does not hold it any more\n    { 'late', serverTimeUs } refused: it is later than notAfterUs\n]]\nlocal lock, counter = KEYS[1], KEYS[2]\nlocal owner, leaseMs, holds = ARGV[1], tonumber(ARGV[2]), tonumber(ARGV[3])\nlocal notAfterUs, counterMs = tonumber(ARGV[4]), ARGV[5]\n\nlocal ttlMs = redis.call('PTTL', lock)\nlocal held = ttlMs ~= -2 and redis.call('HGET', lock, owner)\n\nif not held and holds > 1 then\n  return { 'gone' }\nend\nif ttlMs ~= -2 and not held then\n  return { 'held', ttlMs }\nend\n\nlocal last = redis.call('GET', counter)\nif held then\n  if tonumber(held) < holds then\n    redis.call('HINCRBY', lock, owner, holds - held)\n  end\n  if ttlMs < leaseMs then\n    redis.call('PEXPIRE', lock, leaseMs)\n  end\n  if holds > 1 then\n    return { 'granted', '' }\n  end\n  if last then\n    return { 'granted', last }\n  end\nend\n\nlocal time = redis.call('TIME')\nlocal nowUs = time[1] * 1000000 + time[2]\nif not held then\n  if notAfterUs > 0 and nowUs > notAfterUs then\n    return { 'late', string.format('%.0f', nowUs) }\n  end\n  redis.call('HINCRBY', lock, owner, 1)\n  redis.call('PEXPIRE', lock, leaseMs)\nend\n\nlocal token = string.format('%.0f', math.max((tonumber(last) or 0) + 1, nowUs))\nredis.call('SET', counter, token, 'PX', counterMs)\nreturn { 'granted', token }\n",
} as const

export const forceRelease = {
  name: "force-release",
  keys: ["lock"],
  args: ["channel","publish"],
  sha1: "0d368f2c7e73559282ada2fd5f09652be441df80",
  source: "--[[\n  Frees the lock whoever holds it, and wakes the waiters.\n\n  KEYS[1]  lock     hash: owner -> hold count\n  ARGV[1]  channel  where the waiters of this lock listen\n  ARGV[2]  publish  PUBLISH or SPUBLISH\n\n  Returns\n    1  it was held and is free now\n    0  it was free\n]]\nlocal lock, channel, publish = KEYS[1], ARGV[1], ARGV[2]\n\n-- HLEN refuses a key that is no lock before DEL would destroy it.\nif redis.call('HLEN', lock) == 0 then\n  return 0\nend\nredis.call('DEL', lock)\nredis.call(publish, channel, '0')\nreturn 1\n",
} as const

export const handOver = {
  name: "hand-over",
  keys: ["lock","counter"],
  args: ["from","token","to","leaseMs","notAfterUs","counterMs","channel","publish","listening"],
  sha1: "abf5d74343af2fabaa3898384165bdc825cab63e",
  source: "--[[\n  Releases the lock and takes it for another owner of the same client, in one step.\n\n  Safe to run twice: a repeat finds the new owner in place and answers the same. When asked to\n  yield, it frees the lock and wakes everybody instead, if anybody but this client is listening.\n\n  KEYS[1]  lock        hash: owner -> hold count\n  KEYS[2]  counter     string: the last fencing token issued for this lock\n  ARGV[1]  from        the owner who lets go\n  ARGV[2]  token       the token of the hold that ends\n  ARGV[3]  to          the owner who follows\n  ARGV[4]  leaseMs     the lease of the one who follows, in milliseconds\n  ARGV[5]  notAfterUs  server time after which nothing is done, in µs; 0 is never\n  ARGV[6]  counterMs   how long the counter is kept from now, in milliseconds\n  ARGV[7]  channel     where the waiters of this lock listen\n  ARGV[8]  publish     PUBLISH or SPUBLISH\n  ARGV[9]  listening   how many listeners are this client's own; '' keeps the lock in the client\n\n  Returns\n    { 'granted', token }     the lock is the follower's\n    { 'yielded' }            the lock is free, and other clients have been woken\n    { 'gone' }               the first owner did not hold it any more; nothing was done\n    { 'late', serverTimeUs } refused: it is later than notAfterUs\n]]\nlocal lock, counter = KEYS[1], KEYS[2]\nlocal from, token, to, leaseMs = ARGV[1], ARGV[2], ARGV[3], ARGV[4]\nlocal notAfterUs, counterMs = tonumber(ARGV[5]), ARGV[6]\nlocal channel, publish, listening = ARGV[7], ARGV[8], tonumber(ARGV[9])\n\nlocal held = redis.call('HMGET', lock, from, to)\nlocal last = redis.call('GET', counter)\nif held[2] and last and last ~= token then\n  return { 'granted', last }\nend\nif not held[1] or (last and last ~= token) then\n  return { 'gone' }\nend\n\nlocal time = redis.call('TIME')\nlocal nowUs = time[1] * 1000000 + time[2]\nif notAfterUs > 0 and nowUs > notAfterUs then\n  return { 'late', string.format('%.0f', nowUs) }\nend\nif listening and redis.call('PUBSUB', 'NUMSUB', channel)[2] > listening then\n  redis.call('DEL', lock)\n  redis.call(publish, channel, '0')\n  return { 'yielded' }\nend\n\nlocal newToken = string.format('%.0f', math.max((tonumber(last) or tonumber(token)) + 1, nowUs))\nredis.call('HSET', lock, to, 1)\nredis.call('HDEL', lock, from)\nredis.call('PEXPIRE', lock, leaseMs)\nredis.call('SET', counter, newToken, 'PX', counterMs)\nreturn { 'granted', newToken }\n",
} as const

export const inspect = {
  name: "inspect",
  keys: ["lock","counter"],
  args: ["channel"],
  sha1: "cc1edd102986b703c4024821fb605420dad3613f",
  source: "--[[\n  Tells who holds the lock, and changes nothing.\n\n  KEYS[1]  lock     hash: owner -> hold count\n  KEYS[2]  counter  string: the last fencing token issued for this lock\n  ARGV[1]  channel  where the waiters of this lock listen\n\n  Returns\n    { holder, holds, ttlMs, token, listeners }\n    holder is '' when the lock is free, ttlMs as PTTL answers it, token '' when there is none\n]]\nlocal lock, counter, channel = KEYS[1], KEYS[2], ARGV[1]\n\nlocal fields = redis.call('HGETALL', lock)\nreturn {\n  fields[1] or '',\n  fields[2] or '0',\n  redis.call('PTTL', lock),\n  redis.call('GET', counter) or '',\n  redis.call('PUBSUB', 'NUMSUB', channel)[2],\n}\n",
} as const

export const release = {
  name: "release",
  keys: ["lock","counter"],
  args: ["owner","holds","token","channel","publish"],
  sha1: "86fb097c007b298067f3a4cb8afe071f9ef02b7a",
  source: "--[[\n  Lowers the owner's hold count; at zero the lock is free and one message wakes the waiters.\n\n  Safe to run twice: the caller states the hold count it wants afterwards. A release that arrives\n  late cannot end a newer hold of the same owner, for that one has a newer token.\n\n  KEYS[1]  lock     hash: owner -> hold count\n  KEYS[2]  counter  string: the last fencing token issued for this lock\n  ARGV[1]  owner    `<clientId>:<owner>`\n  ARGV[2]  holds    the hold count wanted after this call; 0 frees the lock\n  ARGV[3]  token    the token of the hold to be ended; '' ends whatever hold the owner has\n  ARGV[4]  channel  where the waiters of this lock listen\n  ARGV[5]  publish  PUBLISH or SPUBLISH\n\n  Returns\n    'freed'  the lock is free now\n    'kept'   the owner holds it still, with the count asked for\n    'gone'   the owner did not hold it, or not under that token\n]]\nlocal lock, counter = KEYS[1], KEYS[2]\nlocal owner, holds, token, channel, publish = ARGV[1], tonumber(ARGV[2]), ARGV[3], ARGV[4], ARGV[5]\n\nlocal held = redis.call('HGET', lock, owner)\nif not held then\n  return 'gone'\nend\nif token ~= '' then\n  local last = redis.call('GET', counter)\n  if last and last ~= token then\n    return 'gone'\n  end\nend\nif holds > 0 then\n  if tonumber(held) > holds then\n    redis.call('HINCRBY', lock, owner, holds - held)\n  end\n  return 'kept'\nend\nredis.call('DEL', lock)\nredis.call(publish, channel, '0')\nreturn 'freed'\n",
} as const

export const renew = {
  name: "renew",
  keys: ["locks"],
  args: ["leaseMs","owners"],
  variadicKeys: true,
  variadicArgs: true,
  sha1: "cb5ce244948ce64ea96a6413b4ad0dd7a814f0e2",
  source: "--[[\n  Renews the leases of many locks at once. Never shortens one, never revives one.\n\n  KEYS[*]  locks    hashes: owner -> hold count\n  ARGV[1]  leaseMs  every lock still held lives at least this long from now, in milliseconds;\n                    0 only looks\n  ARGV[*]  owners   the owner of each lock, in the order of the keys\n\n  Returns\n    one integer for each lock: what is left of its lease in milliseconds, -1 when it has no\n    expiry, -2 when its owner does not hold it any more\n]]\nlocal leaseMs = tonumber(ARGV[1])\n\nlocal left = {}\nfor i = 1, #KEYS do\n  -- One key of another type must not cost the others their lease: pcall, and it counts as lost.\n  if redis.pcall('HEXISTS', KEYS[i], ARGV[i + 1]) == 1 then\n    left[i] = redis.call('PTTL', KEYS[i])\n    if left[i] < leaseMs and leaseMs > 0 then\n      redis.call('PEXPIRE', KEYS[i], leaseMs)\n      left[i] = leaseMs\n    end\n  else\n    left[i] = -2\n  end\nend\nreturn left\n",
} as const
