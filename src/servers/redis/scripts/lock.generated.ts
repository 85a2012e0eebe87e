// Generated from the headers of lua/ by `npm run lua`. Do not edit.
import { flag, listOf, odd, pairs, sized, text, whole, wholeOrNone } from './reading.ts'
import type { Args, Script, Value } from './script.ts'
import type { Terms } from './terms.ts'

export const acquireAll: Script<'leaseMs' | 'notAfterUs' | 'counterMs' | 'owners'> = {
  name: "lock/acquire-all",
  keys: ["both"],
  args: ["leaseMs","notAfterUs","counterMs","owners"],
  sha1: "4dfb264e9aaaba83a5b357c200077f81f5593b13",
  source: "--[[\n  Takes several locks at once, or none of them. All are first acquisitions, under one fencing token.\n\n  Safe to run twice, as `acquire` is: a repeat finds its own names there, all of them, and takes\n  nothing. Where one is held by somebody else, or only some are still the caller's from an earlier\n  run, it changes nothing; what that run took is then given back by whoever asked.\n\n  KEYS[*]  both        of each lock, one after the other: the lock, a hash: owner -> hold count; its\n                       counter, a string: the last fencing token issued for this lock\n  ARGV[1]  leaseMs     the keys live at least this long from now, in milliseconds\n  ARGV[2]  notAfterUs  server time after which nothing is taken, in µs; 0 is never\n  ARGV[3]  counterMs   how long the counters are kept from now, in milliseconds; 0 is for good\n  ARGV[*]  owners      text[]: `<clientId>:<owner>` for each lock, in the same order\n\n  Returns\n    { 'granted', token >= 1 }\n                             all are the owners'; the token is above all that were issued for any\n    { 'held', ttlMs >= -2, n >= 1 }\n                             somebody else has the n-th for ttlMs more; -1 means without an expiry,\n                             -2 that an earlier run took it and it was let go since\n    { 'late', serverTimeUs >= 1 }  refused: it is later than notAfterUs\n]]\nlocal leaseMs, notAfterUs, counterMs = tonumber(ARGV[1]), tonumber(ARGV[2]), ARGV[3]\n\n-- The server's time in µs: for all that one request does, that of the first who asked.\nlocal time, firstUs, firstText\nlocal function serverTimeUs()\n  if not firstUs then\n    time = redis.call('TIME')\n    firstUs = time[1] * 1000000 + time[2]\n  end\n  return firstUs\nend\n\n-- The same as a string: quicker than to format the number.\nlocal function serverTimeText()\n  if not firstText then\n    serverTimeUs()\n    firstText = time[1] .. string.sub('00000' .. time[2], -6)\n  end\n  return firstText\nend\n\n-- Included after parts/server-time.lua. Whether a request came too late: after the time that it was\n-- given, or by a clock that was set back meanwhile, which shows in a time that is too far ahead. The last\n-- three digits of `notAfterUs` say how far it may be, in tenths of a second; 0 is any.\nlocal function isLate(notAfterUs)\n  if notAfterUs <= 0 then\n    return false\n  end\n  local aheadUs, mostUs = notAfterUs - serverTimeUs(), notAfterUs % 1000 * 100000\n  return aheadUs < 0 or mostUs > 0 and aheadUs > mostUs\nend\n\n-- How long a counter is kept: for no less than the lease.\nlocal function counterKeptMs(counterMs, leaseMs)\n  return counterMs - leaseMs < 0 and leaseMs or counterMs\nend\n\n-- Writes a token down; `counterMs` of '0' is for good. It is kept for no less than the lease, and until the\n-- server's time has passed it: when it is gone the time takes its place.\nlocal function setCounter(counter, token, counterMs, leaseMs)\n  if counterMs == '0' then\n    redis.call('SET', counter, token)\n  else\n    local keptMs = counterKeptMs(counterMs, leaseMs)\n    local aheadMs = math.ceil((token - serverTimeUs()) / 1000)\n    if aheadMs > 0 then\n      keptMs = string.format('%.0f', keptMs + aheadMs)\n    end\n    redis.call('SET', counter, token, 'PX', keptMs)\n  end\nend\n\n-- Keeps it on with a lease that goes on.\nlocal function keepCounter(counter, counterMs, leaseMs)\n  if counterMs == '0' then\n    return\n  end\n  local keptMs = math.max(counterMs, leaseMs)\n  local leftMs = redis.call('PTTL', counter)\n  -- Not at every renewal, but before it would end sooner than the lease.\n  if leftMs >= 0 and leftMs < math.max(keptMs * 0.9, leaseMs) then\n    redis.call('PEXPIRE', counter, string.format('%.0f', keptMs))\n  end\nend\n\n-- The token after the last one: no less than the floor, which is the server's time where tokens may have\n-- been forgotten; and with so many below it that are new as well.\nlocal function nextToken(last, floorUs, reserve)\n  return string.format('%.0f', math.max((tonumber(last) or 0) + 1, floorUs) + reserve)\nend\n\n-- A read-write lock of Redisson has a field `mode`. It looks at no other lock, and is refused.\nlocal READ_WRITE = 'WRONGTYPE a read-write lock has this name'\n\nlocal own, missing, last = 0, nil, 0\nfor n = 1, #KEYS / 2 do\n  local lock, owner = KEYS[2 * n - 1], ARGV[3 + n]\n  local ttlMs = redis.call('PTTL', lock)\n  local found = ttlMs ~= -2 and redis.call('HMGET', lock, owner, 'mode') or {}\n  if found[2] then\n    return redis.error_reply(READ_WRITE)\n  end\n  if ttlMs ~= -2 and not found[1] then\n    return { 'held', ttlMs, n }\n  end\n  if found[1] then\n    own = own + 1\n  else\n    missing = missing or n\n  end\n  last = math.max(last, tonumber(redis.call('GET', KEYS[2 * n]) or 0))\nend\n\n-- A new token would put an end to the holds that are still in use.\nif own > 0 and missing then\n  return { 'held', -2, missing }\nend\n\nlocal nowUs = serverTimeUs()\nif missing and isLate(notAfterUs) then\n  return { 'late', serverTimeText() }\nend\n\nlocal again = not missing and last > 0\nlocal token = again and string.format('%.0f', last) or nextToken(last, nowUs, 0)\nfor n = 1, #KEYS / 2 do\n  local lock = KEYS[2 * n - 1]\n  if missing then\n    redis.call('HSET', lock, ARGV[3 + n], '1')\n  end\n  if redis.call('PTTL', lock) < leaseMs then\n    redis.call('PEXPIRE', lock, leaseMs)\n  end\n  setCounter(KEYS[2 * n], token, counterMs, leaseMs)\nend\nreturn { 'granted', token }\n",
}

export interface AcquireAllArgs {
  readonly leaseMs: number
  readonly owners: readonly string[]
}

export function acquireAllArgs(given: AcquireAllArgs, terms: Pick<Terms, 'notAfterUs' | 'counterMs'>): Args {
  const args: Value[] = [given.leaseMs, terms.notAfterUs, terms.counterMs]
  for (const one of given.owners) args.push(one)
  return args
}

export type AcquireAllReply = 
  | { readonly kind: 'granted'; readonly token: number }
  | { readonly kind: 'held'; readonly ttlMs: number; readonly n: number }

export function readAcquireAll(reply: unknown): AcquireAllReply {
  const list = listOf(reply)
  switch (list[0]) {
    case 'granted':
      sized(list, 2)
      return { kind: 'granted', token: whole(list[1], 1) }
    case 'held':
      sized(list, 3)
      return { kind: 'held', ttlMs: whole(list[1], -2), n: whole(list[2], 1) }
    default:
      throw odd()
  }
}

export const acquire: Script<'owner' | 'leaseMs' | 'notAfterUs' | 'counterMs' | 'holds' | 'reserve' | 'token'> = {
  name: "lock/acquire",
  keys: ["lock","counter"],
  args: ["owner","leaseMs","notAfterUs","counterMs","holds","reserve","token"],
  sha1: "c9daa0aa2f5a40be63f281e849fd2724c3078f96",
  source: "--[[\n  Takes the lock for an owner, or re-enters it.\n\n  Safe to run twice: the caller states the hold count it wants afterwards, so a repeat finds that\n  count already there, changes nothing and answers the same. A request that was delayed on its way\n  (the caller has given up by now) is refused by server time where it would change a count.\n  The token is max(previous + 1, server time in µs): it rises even when the counter was lost.\n  With a reserve, as many tokens below the one that is answered are the owner's too: its client gives\n  them to those who have the lock after it, in the same name.\n\n  KEYS[1]  lock        hash: owner -> hold count\n  KEYS[2]  counter     string: the last fencing token issued for this lock\n  ARGV[1]  owner       `<clientId>:<owner>`\n  ARGV[2]  leaseMs     the key lives at least this long from now, in milliseconds\n  ARGV[3]  notAfterUs  server time after which no count is raised, in µs; 0 is never\n  ARGV[4]  counterMs   how long the counter is kept from now, in milliseconds; 0 is for good\n  ARGV[5]  holds=1     the hold count wanted after this call; 1 is a first acquisition\n  ARGV[6]  reserve=0   how many tokens are wanted beside the one\n  ARGV[7]  token?      number: of a re-entry, the token of the hold that is re-entered, which may have a\n                       count of 1 by now; left out for a first acquisition\n\n  Returns\n    { 'granted', token: number >= 1 or '' as 0, reserved = 0 }\n                             it is the owner's, with so many tokens below that one; the token is ''\n                             for a re-entry\n    { 'held', ttlMs >= -1 }  somebody else has it for ttlMs more; -1 means without an expiry\n    { 'gone' }               a re-entry, but the owner does not hold it any more, or not under that token\n    { 'late', serverTimeUs >= 1 }  refused: it is later than notAfterUs\n]]\n-- The server's time in µs: for all that one request does, that of the first who asked.\nlocal time, firstUs, firstText\nlocal function serverTimeUs()\n  if not firstUs then\n    time = redis.call('TIME')\n    firstUs = time[1] * 1000000 + time[2]\n  end\n  return firstUs\nend\n\n-- The same as a string: quicker than to format the number.\nlocal function serverTimeText()\n  if not firstText then\n    serverTimeUs()\n    firstText = time[1] .. string.sub('00000' .. time[2], -6)\n  end\n  return firstText\nend\n\n-- Included after parts/server-time.lua. Whether a request came too late: after the time that it was\n-- given, or by a clock that was set back meanwhile, which shows in a time that is too far ahead. The last\n-- three digits of `notAfterUs` say how far it may be, in tenths of a second; 0 is any.\nlocal function isLate(notAfterUs)\n  if notAfterUs <= 0 then\n    return false\n  end\n  local aheadUs, mostUs = notAfterUs - serverTimeUs(), notAfterUs % 1000 * 100000\n  return aheadUs < 0 or mostUs > 0 and aheadUs > mostUs\nend\n\n-- How long a counter is kept: for no less than the lease.\nlocal function counterKeptMs(counterMs, leaseMs)\n  return counterMs - leaseMs < 0 and leaseMs or counterMs\nend\n\n-- Writes a token down; `counterMs` of '0' is for good. It is kept for no less than the lease, and until the\n-- server's time has passed it: when it is gone the time takes its place.\nlocal function setCounter(counter, token, counterMs, leaseMs)\n  if counterMs == '0' then\n    redis.call('SET', counter, token)\n  else\n    local keptMs = counterKeptMs(counterMs, leaseMs)\n    local aheadMs = math.ceil((token - serverTimeUs()) / 1000)\n    if aheadMs > 0 then\n      keptMs = string.format('%.0f', keptMs + aheadMs)\n    end\n    redis.call('SET', counter, token, 'PX', keptMs)\n  end\nend\n\n-- Keeps it on with a lease that goes on.\nlocal function keepCounter(counter, counterMs, leaseMs)\n  if counterMs == '0' then\n    return\n  end\n  local keptMs = math.max(counterMs, leaseMs)\n  local leftMs = redis.call('PTTL', counter)\n  -- Not at every renewal, but before it would end sooner than the lease.\n  if leftMs >= 0 and leftMs < math.max(keptMs * 0.9, leaseMs) then\n    redis.call('PEXPIRE', counter, string.format('%.0f', keptMs))\n  end\nend\n\n-- The token after the last one: no less than the floor, which is the server's time where tokens may have\n-- been forgotten; and with so many below it that are new as well.\nlocal function nextToken(last, floorUs, reserve)\n  return string.format('%.0f', math.max((tonumber(last) or 0) + 1, floorUs) + reserve)\nend\n\n-- A read-write lock of Redisson has a field `mode`. It looks at no other lock, and is refused.\nlocal READ_WRITE = 'WRONGTYPE a read-write lock has this name'\n\n-- Included after parts/token.lua. Takes a lock for an owner, or re-enters it: the script `acquire`; and\n-- `vote`, where `vote` is a table: birth, longestMs.\nlocal function acquire(\n  lock, counter, owner, leaseMs, notAfterUs, counterMs, holds, reserve, token, vote\n)\n  holds, reserve, notAfterUs = tonumber(holds or 1), tonumber(reserve or 0), tonumber(notAfterUs)\n  local reserved = reserve > 0 and reserve or nil\n  local reenters = token or holds > 1\n\n  local ttlMs = redis.call('PTTL', lock)\n  local found = ttlMs ~= -2 and redis.call('HMGET', lock, owner, 'mode') or {}\n  local held = found[1]\n  if found[2] then\n    return redis.error_reply(READ_WRITE)\n  end\n  if reenters and not held then\n    return { 'gone' }\n  end\n  if token and not vote and tonumber(redis.call('GET', counter) or 0) > tonumber(token) then\n    return { 'gone' }\n  end\n  if ttlMs ~= -2 and not held then\n    return { 'held', ttlMs }\n  end\n\n  local nowUs = serverTimeUs()\n  local missing = holds - (held or 0)\n  if missing > 0 and isLate(notAfterUs) then\n    return { 'late', serverTimeText() }\n  end\n\n  local sinceUs\n  if vote and not held then\n    local replId, longest\n    sinceUs, replId, longest =\n      string.match(redis.call('GET', vote.birth) or '', '^(%d+) %S* %d (%x+) (%d+)$')\n    -- A server has another replication id each time that it starts, or is promoted, or gets its first\n    -- replica. It is asked for here: a connection can outlive all but the first.\n    local line = replId and 'master_replid:' .. replId .. '\\r'\n    local isSame = line and string.find(replicationInfo(), line, 1, true)\n    if not isSame or longest - vote.longestMs < 0 then\n      return { 'forgot', '' }\n    elseif tonumber(sinceUs) > nowUs then\n      return { 'forgot', sinceUs }\n    end\n  end\n\n  if not held and not vote then\n    -- The usual case, in as few commands as can be, and with texts: to write a number costs half of one.\n    local newToken = reserved and string.format('%.0f', nowUs + reserve) or serverTimeText()\n    local keptMs = counterKeptMs(counterMs, leaseMs)\n    local last = counterMs ~= '0' and redis.call('SET', counter, newToken, 'PX', keptMs, 'GET')\n      or redis.call('SET', counter, newToken, 'GET')\n    if (tonumber(last) or 0) >= nowUs then\n      newToken = nextToken(last, 0, reserve)\n      setCounter(counter, newToken, counterMs, leaseMs)\n    end\n    redis.call('HSET', lock, owner, '1')\n    redis.call('PEXPIRE', lock, leaseMs)\n    return { 'granted', newToken, reserved }\n  end\n\n  local last = not reenters and redis.call('GET', counter)\n\n  if held then\n    if missing > 0 then\n      redis.call('HINCRBY', lock, owner, missing)\n    end\n    if ttlMs - leaseMs < 0 then\n      redis.call('PEXPIRE', lock, leaseMs)\n      keepCounter(counter, counterMs, leaseMs)\n    end\n    if reenters then\n      return { 'granted', '' }\n    end\n    if last then\n      return { 'granted', last }\n    end\n  end\n\n  if not held then\n    redis.call('HSET', lock, owner, '1')\n    redis.call('PEXPIRE', lock, leaseMs)\n  end\n  local floorUs = sinceUs and last and tonumber(sinceUs) or nowUs\n  local newToken = nextToken(last, floorUs, reserve)\n  setCounter(counter, newToken, counterMs, leaseMs)\n  return { 'granted', newToken, reserved }\nend\n\nreturn acquire(KEYS[1], KEYS[2], ARGV[1], ARGV[2], ARGV[3], ARGV[4], ARGV[5], ARGV[6], ARGV[7])\n",
}

export interface AcquireArgs {
  readonly owner: string
  readonly leaseMs: number
  readonly holds?: number | undefined
  readonly reserve?: number | undefined
  readonly token?: number | undefined
}

export function acquireArgs(given: AcquireArgs, terms: Pick<Terms, 'notAfterUs' | 'counterMs'>): Args {
  const args: Value[] = [given.owner, given.leaseMs, terms.notAfterUs, terms.counterMs]
  if (given.token !== undefined) args.push(given.holds ?? 1, given.reserve ?? 0, given.token)
  else if (given.reserve !== undefined && given.reserve !== 0) args.push(given.holds ?? 1, given.reserve)
  else if (given.holds !== undefined && given.holds !== 1) args.push(given.holds)
  return args
}

export type AcquireReply = 
  | { readonly kind: 'granted'; readonly token: number; readonly reserved: number }
  | { readonly kind: 'held'; readonly ttlMs: number }
  | { readonly kind: 'gone' }

export function readAcquire(reply: unknown): AcquireReply {
  const list = listOf(reply)
  switch (list[0]) {
    case 'granted':
      sized(list, 2, 3)
      return { kind: 'granted', token: list[1] === '' ? 0 : whole(list[1], 1), reserved: list.length > 2 ? whole(list[2], 0) : 0 }
    case 'held':
      sized(list, 2)
      return { kind: 'held', ttlMs: whole(list[1], -1) }
    case 'gone':
      sized(list, 1)
      return { kind: 'gone' }
    default:
      throw odd()
  }
}

export const batch: Script<'notAfterUs' | 'counterMs' | 'publish' | 'birth' | 'longestMs' | 'kinds' | 'own'> = {
  name: "lock/batch",
  keys: ["both"],
  args: ["notAfterUs","counterMs","publish","birth","longestMs","kinds","own"],
  sha1: "9aa6f7d6ec3fb8c498e4440dbba7c4a77fae306b",
  source: "--[[\n  Runs `acquire`, `vote` and `release` for many locks in one request, one after the other. What\n  becomes of one of them is nothing to the others.\n\n  Safe to run twice, as each of them is.\n\n  KEYS[*]  both        the two keys of each call, one call after the other\n  ARGV[1]  notAfterUs  for all that take it, as are the next four\n  ARGV[2]  counterMs   how long the counters are kept from now, in milliseconds; 0 is for good\n  ARGV[3]  publish     PUBLISH or SPUBLISH\n  ARGV[4]  birth       the key that tells since when this master may vote\n  ARGV[5]  longestMs   number or '': the longest lease that this client takes, in milliseconds; '' where\n                       none of them votes\n  ARGV[6]  kinds       of each call the first letter of its script, and how many arguments follow\n  ARGV[*]  own         value[]: these, one call after the other: all but those above, and the channel\n\n  Returns\n    for each call what its script returns, or { 'error', message }; but the token alone where there is\n    nothing else to `granted`, and for `freed` the number alone\n]]\nlocal notAfterUs, counterMs, publish = ARGV[1], ARGV[2], ARGV[3]\nlocal asVote, kinds = { birth = ARGV[4], longestMs = ARGV[5] }, ARGV[6]\n\n-- The server's time in µs: for all that one request does, that of the first who asked.\nlocal time, firstUs, firstText\nlocal function serverTimeUs()\n  if not firstUs then\n    time = redis.call('TIME')\n    firstUs = time[1] * 1000000 + time[2]\n  end\n  return firstUs\nend\n\n-- The same as a string: quicker than to format the number.\nlocal function serverTimeText()\n  if not firstText then\n    serverTimeUs()\n    firstText = time[1] .. string.sub('00000' .. time[2], -6)\n  end\n  return firstText\nend\n\n-- Included after parts/server-time.lua. Whether a request came too late: after the time that it was\n-- given, or by a clock that was set back meanwhile, which shows in a time that is too far ahead. The last\n-- three digits of `notAfterUs` say how far it may be, in tenths of a second; 0 is any.\nlocal function isLate(notAfterUs)\n  if notAfterUs <= 0 then\n    return false\n  end\n  local aheadUs, mostUs = notAfterUs - serverTimeUs(), notAfterUs % 1000 * 100000\n  return aheadUs < 0 or mostUs > 0 and aheadUs > mostUs\nend\n\n-- How long a counter is kept: for no less than the lease.\nlocal function counterKeptMs(counterMs, leaseMs)\n  return counterMs - leaseMs < 0 and leaseMs or counterMs\nend\n\n-- Writes a token down; `counterMs` of '0' is for good. It is kept for no less than the lease, and until the\n-- server's time has passed it: when it is gone the time takes its place.\nlocal function setCounter(counter, token, counterMs, leaseMs)\n  if counterMs == '0' then\n    redis.call('SET', counter, token)\n  else\n    local keptMs = counterKeptMs(counterMs, leaseMs)\n    local aheadMs = math.ceil((token - serverTimeUs()) / 1000)\n    if aheadMs > 0 then\n      keptMs = string.format('%.0f', keptMs + aheadMs)\n    end\n    redis.call('SET', counter, token, 'PX', keptMs)\n  end\nend\n\n-- Keeps it on with a lease that goes on.\nlocal function keepCounter(counter, counterMs, leaseMs)\n  if counterMs == '0' then\n    return\n  end\n  local keptMs = math.max(counterMs, leaseMs)\n  local leftMs = redis.call('PTTL', counter)\n  -- Not at every renewal, but before it would end sooner than the lease.\n  if leftMs >= 0 and leftMs < math.max(keptMs * 0.9, leaseMs) then\n    redis.call('PEXPIRE', counter, string.format('%.0f', keptMs))\n  end\nend\n\n-- The token after the last one: no less than the floor, which is the server's time where tokens may have\n-- been forgotten; and with so many below it that are new as well.\nlocal function nextToken(last, floorUs, reserve)\n  return string.format('%.0f', math.max((tonumber(last) or 0) + 1, floorUs) + reserve)\nend\n\n-- A read-write lock of Redisson has a field `mode`. It looks at no other lock, and is refused.\nlocal READ_WRITE = 'WRONGTYPE a read-write lock has this name'\n\n-- The mark of one master of several tells since when it votes: parts of the scripts `vote` and `enrol`.\n-- `<since, µs> <runId> <durable> <replId> <longestMs>`; one of an older Holdfast ends after <durable>.\n\n-- What the server tells of its replication: once for all that one request does.\nlocal replication\nlocal function replicationInfo()\n  if not replication then\n    local found = redis.pcall('INFO', 'replication')\n    replication = type(found) == 'string' and found or ''\n  end\n  return replication\nend\n\nlocal NO_ID = 'NOPERM the server does not tell its replication id, without which a master that was '\n  .. 'started anew, or was a replica, is not recognized; the user needs the right to INFO'\n\n-- Included after parts/token.lua. Takes a lock for an owner, or re-enters it: the script `acquire`; and\n-- `vote`, where `vote` is a table: birth, longestMs.\nlocal function acquire(\n  lock, counter, owner, leaseMs, notAfterUs, counterMs, holds, reserve, token, vote\n)\n  holds, reserve, notAfterUs = tonumber(holds or 1), tonumber(reserve or 0), tonumber(notAfterUs)\n  local reserved = reserve > 0 and reserve or nil\n  local reenters = token or holds > 1\n\n  local ttlMs = redis.call('PTTL', lock)\n  local found = ttlMs ~= -2 and redis.call('HMGET', lock, owner, 'mode') or {}\n  local held = found[1]\n  if found[2] then\n    return redis.error_reply(READ_WRITE)\n  end\n  if reenters and not held then\n    return { 'gone' }\n  end\n  if token and not vote and tonumber(redis.call('GET', counter) or 0) > tonumber(token) then\n    return { 'gone' }\n  end\n  if ttlMs ~= -2 and not held then\n    return { 'held', ttlMs }\n  end\n\n  local nowUs = serverTimeUs()\n  local missing = holds - (held or 0)\n  if missing > 0 and isLate(notAfterUs) then\n    return { 'late', serverTimeText() }\n  end\n\n  local sinceUs\n  if vote and not held then\n    local replId, longest\n    sinceUs, replId, longest =\n      string.match(redis.call('GET', vote.birth) or '', '^(%d+) %S* %d (%x+) (%d+)$')\n    -- A server has another replication id each time that it starts, or is promoted, or gets its first\n    -- replica. It is asked for here: a connection can outlive all but the first.\n    local line = replId and 'master_replid:' .. replId .. '\\r'\n    local isSame = line and string.find(replicationInfo(), line, 1, true)\n    if not isSame or longest - vote.longestMs < 0 then\n      return { 'forgot', '' }\n    elseif tonumber(sinceUs) > nowUs then\n      return { 'forgot', sinceUs }\n    end\n  end\n\n  if not held and not vote then\n    -- The usual case, in as few commands as can be, and with texts: to write a number costs half of one.\n    local newToken = reserved and string.format('%.0f', nowUs + reserve) or serverTimeText()\n    local keptMs = counterKeptMs(counterMs, leaseMs)\n    local last = counterMs ~= '0' and redis.call('SET', counter, newToken, 'PX', keptMs, 'GET')\n      or redis.call('SET', counter, newToken, 'GET')\n    if (tonumber(last) or 0) >= nowUs then\n      newToken = nextToken(last, 0, reserve)\n      setCounter(counter, newToken, counterMs, leaseMs)\n    end\n    redis.call('HSET', lock, owner, '1')\n    redis.call('PEXPIRE', lock, leaseMs)\n    return { 'granted', newToken, reserved }\n  end\n\n  local last = not reenters and redis.call('GET', counter)\n\n  if held then\n    if missing > 0 then\n      redis.call('HINCRBY', lock, owner, missing)\n    end\n    if ttlMs - leaseMs < 0 then\n      redis.call('PEXPIRE', lock, leaseMs)\n      keepCounter(counter, counterMs, leaseMs)\n    end\n    if reenters then\n      return { 'granted', '' }\n    end\n    if last then\n      return { 'granted', last }\n    end\n  end\n\n  if not held then\n    redis.call('HSET', lock, owner, '1')\n    redis.call('PEXPIRE', lock, leaseMs)\n  end\n  local floorUs = sinceUs and last and tonumber(sinceUs) or nowUs\n  local newToken = nextToken(last, floorUs, reserve)\n  setCounter(counter, newToken, counterMs, leaseMs)\n  return { 'granted', newToken, reserved }\nend\n\n-- Lowers an owner's hold count: the script `release`.\nlocal function release(lock, counter, owner, token, channel, publish, holds, notAfterUs)\n  holds, notAfterUs = tonumber(holds or 0), tonumber(notAfterUs or 0)\n\n  local found = redis.call('HMGET', lock, owner, 'mode')\n  local held = found[1]\n  if found[2] then\n    -- A read-write lock of Redisson, which looks at no other lock, is in it by now.\n    redis.call('HDEL', lock, owner)\n    return { 'gone' }\n  end\n  if not held then\n    return { 'gone' }\n  end\n  if token ~= '' then\n    -- The counter of one master of several may be behind; none is ahead but by a newer hold.\n    local last = redis.call('GET', counter)\n    if last and last ~= token and tonumber(last) > tonumber(token) then\n      return { 'gone' }\n    end\n  end\n\n  if holds == 0 then\n    redis.call('DEL', lock)\n    return { 'freed', redis.call(publish, channel, '0') }\n  end\n  if tonumber(held) <= holds then\n    return { 'kept' }\n  end\n  if isLate(notAfterUs) then\n    return { 'late', serverTimeText() }\n  end\n  local lowered = redis.pcall('HINCRBY', lock, owner, holds - held)\n  if type(lowered) == 'table' then\n    -- A full server refuses HINCRBY, but not in a script that has written something already.\n    local ttlMs = redis.call('PTTL', lock)\n    if ttlMs >= 0 then\n      redis.call('PEXPIRE', lock, ttlMs + 1)\n    else\n      redis.call('PERSIST', lock)\n    end\n    redis.call('HINCRBY', lock, owner, holds - held)\n  end\n  return { 'kept' }\nend\n\nlocal scripts = {\n  a = function(lock, counter, owner, leaseMs, holds, reserve, token)\n    return acquire(lock, counter, owner, leaseMs, notAfterUs, counterMs, holds, reserve, token)\n  end,\n  v = function(lock, counter, owner, leaseMs, holds, reserve, token)\n    return acquire(\n      lock, counter, owner, leaseMs, notAfterUs, counterMs, holds, reserve, token, asVote\n    )\n  end,\n  r = function(lock, counter, owner, token, holds)\n    -- Both are named after the lock in the same way.\n    local channel = string.gsub(counter, '^redisson_lock_token', 'redisson_lock__channel')\n    return release(lock, counter, owner, token, channel, publish, holds, notAfterUs)\n  end,\n}\n\nlocal replies = {}\nlocal last = 6\nfor n = 1, #KEYS / 2 do\n  local first = last + 1\n  last = last + tonumber(string.sub(kinds, 2 * n, 2 * n))\n  local run = scripts[string.sub(kinds, 2 * n - 1, 2 * n - 1)]\n  local done, reply = pcall(run, KEYS[2 * n - 1], KEYS[2 * n], unpack(ARGV, first, last))\n  if not done or reply.err then\n    reply = { 'error', type(reply) == 'table' and reply.err or tostring(reply) }\n  end\n  -- In short, for reading two parts and a list takes a client three times as long as one part: a\n  -- string is a token, a number counts listeners.\n  local isUsual = reply[1] == 'granted' and not reply[3] or reply[1] == 'freed'\n  replies[n] = isUsual and reply[2] or reply\nend\nreturn replies\n",
}

export interface BatchArgs {
  readonly longestMs: number | ''
  readonly kinds: string
  readonly own: readonly (string | number)[]
}

export function batchArgs(given: BatchArgs, terms: Pick<Terms, 'notAfterUs' | 'counterMs' | 'publish' | 'birth'>): Args {
  const args: Value[] = [terms.notAfterUs, terms.counterMs, terms.publish, terms.birth, given.longestMs, given.kinds]
  for (const one of given.own) args.push(one)
  return args
}

export const forceRelease: Script<'owner' | 'token' | 'channel' | 'publish' | 'forcedMs'> = {
  name: "lock/force-release",
  keys: ["lock","counter","forced"],
  args: ["owner","token","channel","publish","forcedMs"],
  sha1: "0c6e23ae5c3c350d813d03a38b13084119e6f95b",
  source: "--[[\n  Takes the lock from the holder that was seen, and from nobody else, and wakes the waiters.\n\n  Safe to run twice: a repeat cannot end the hold of whoever came next, for that one has another name,\n  or a newer token. One master of several also notes the name, so that its holder, who may have a\n  majority still, is not given the lock back there.\n\n  KEYS[1]  lock       hash: owner -> hold count\n  KEYS[2]  counter    string: the last fencing token issued for this lock\n  KEYS[3]  forced?    hash: the owners whom it was taken from; left out unless it is one master of several\n  ARGV[1]  owner      `<clientId>:<owner>` of the holder that was seen\n  ARGV[2]  token      number or '': the last token that was seen; '' ends whatever hold that owner has\n  ARGV[3]  channel    where the waiters of this lock listen\n  ARGV[4]  publish    PUBLISH or SPUBLISH\n  ARGV[5]  forcedMs?  how long the name is noted, in milliseconds; left out with `forced`\n\n  Returns\n    1  it was taken\n    0  the owner did not have it any more\n]]\nlocal lock, counter, forced = KEYS[1], KEYS[2], KEYS[3]\nlocal owner, token, channel, publish, forcedMs = ARGV[1], ARGV[2], ARGV[3], ARGV[4], ARGV[5]\n\n-- A read-write lock of Redisson has a field `mode`. It looks at no other lock, and is refused.\nlocal READ_WRITE = 'WRONGTYPE a read-write lock has this name'\n\nlocal found = redis.call('HMGET', lock, owner, 'mode')\nif found[2] then\n  return redis.error_reply(READ_WRITE)\nend\nlocal last = tonumber(redis.call('GET', counter) or 0)\nif forced then\n  -- First: a full server refuses HSET, but not in a script that has written something already.\n  redis.call('HDEL', forced, '')\n  redis.call('HSET', forced, owner, '1')\n  redis.call('PEXPIRE', forced, forcedMs)\nend\nif not found[1] or token ~= '' and last > tonumber(token) then\n  return 0\nend\nredis.call('DEL', lock)\nredis.call(publish, channel, '0')\nreturn 1\n",
}

export interface ForceReleaseArgs {
  readonly owner: string
  readonly token: number | ''
  readonly forcedMs?: number | undefined
}

export function forceReleaseArgs(given: ForceReleaseArgs, terms: Pick<Terms, 'publish'>, names: { readonly channel: string }): Args {
  const args: Value[] = [given.owner, given.token, names.channel, terms.publish]
  if (given.forcedMs !== undefined) args.push(given.forcedMs)
  return args
}

export type ForceReleaseReply = boolean

export function readForceRelease(reply: unknown): ForceReleaseReply {
  return flag(reply)
}

export const handOver: Script<'from' | 'token' | 'to' | 'leaseMs' | 'notAfterUs' | 'counterMs' | 'channel' | 'publish' | 'listening' | 'vote' | 'reserve'> = {
  name: "lock/hand-over",
  keys: ["lock","counter"],
  args: ["from","token","to","leaseMs","notAfterUs","counterMs","channel","publish","listening","vote","reserve"],
  sha1: "180833ac591fe89cb11a45914d82545ab254a44e",
  source: "--[[\n  Releases the lock and takes it for another owner of the same client, in one step.\n\n  Safe to run twice: a repeat finds the new owner in place and answers the same. When asked to\n  yield, it frees the lock and wakes everybody instead, if anybody but this client is listening.\n\n  KEYS[1]   lock        hash: owner -> hold count\n  KEYS[2]   counter     string: the last fencing token issued for this lock\n  ARGV[1]   from        the owner who lets go\n  ARGV[2]   token       number: the token of the hold that ends\n  ARGV[3]   to          the owner who follows\n  ARGV[4]   leaseMs     the lease of the one who follows, in milliseconds\n  ARGV[5]   notAfterUs  server time after which nothing is done, in µs; 0 is never\n  ARGV[6]   counterMs   how long the counter is kept from now, in milliseconds; 0 is for good\n  ARGV[7]   channel     where the waiters of this lock listen\n  ARGV[8]   publish     PUBLISH or SPUBLISH\n  ARGV[9]   listening   number or '': how many listeners are this client's own; '' keeps the lock in the\n                        client\n  ARGV[10]  vote        1 or '': whether it is one master of several, which counts on without the clock\n  ARGV[11]  reserve     number: how many tokens are wanted beside the one, as for `acquire`\n\n  Returns\n    { 'granted', token >= 1, reserved = 0 }\n                             the lock is the follower's, with so many tokens below that one\n    { 'yielded', others >= 1 }\n                             the lock is free, and so many others who listen have been woken\n    { 'gone' }               the first owner did not hold it any more; nothing was done\n    { 'late', serverTimeUs >= 1 }  refused: it is later than notAfterUs\n]]\nlocal lock, counter = KEYS[1], KEYS[2]\nlocal from, token, to, leaseMs = ARGV[1], ARGV[2], ARGV[3], ARGV[4]\nlocal notAfterUs, counterMs = tonumber(ARGV[5]), ARGV[6]\nlocal channel, publish, listening, vote = ARGV[7], ARGV[8], tonumber(ARGV[9]), ARGV[10]\nlocal reserve = tonumber(ARGV[11])\n\n-- The server's time in µs: for all that one request does, that of the first who asked.\nlocal time, firstUs, firstText\nlocal function serverTimeUs()\n  if not firstUs then\n    time = redis.call('TIME')\n    firstUs = time[1] * 1000000 + time[2]\n  end\n  return firstUs\nend\n\n-- The same as a string: quicker than to format the number.\nlocal function serverTimeText()\n  if not firstText then\n    serverTimeUs()\n    firstText = time[1] .. string.sub('00000' .. time[2], -6)\n  end\n  return firstText\nend\n\n-- Included after parts/server-time.lua. Whether a request came too late: after the time that it was\n-- given, or by a clock that was set back meanwhile, which shows in a time that is too far ahead. The last\n-- three digits of `notAfterUs` say how far it may be, in tenths of a second; 0 is any.\nlocal function isLate(notAfterUs)\n  if notAfterUs <= 0 then\n    return false\n  end\n  local aheadUs, mostUs = notAfterUs - serverTimeUs(), notAfterUs % 1000 * 100000\n  return aheadUs < 0 or mostUs > 0 and aheadUs > mostUs\nend\n\n-- How long a counter is kept: for no less than the lease.\nlocal function counterKeptMs(counterMs, leaseMs)\n  return counterMs - leaseMs < 0 and leaseMs or counterMs\nend\n\n-- Writes a token down; `counterMs` of '0' is for good. It is kept for no less than the lease, and until the\n-- server's time has passed it: when it is gone the time takes its place.\nlocal function setCounter(counter, token, counterMs, leaseMs)\n  if counterMs == '0' then\n    redis.call('SET', counter, token)\n  else\n    local keptMs = counterKeptMs(counterMs, leaseMs)\n    local aheadMs = math.ceil((token - serverTimeUs()) / 1000)\n    if aheadMs > 0 then\n      keptMs = string.format('%.0f', keptMs + aheadMs)\n    end\n    redis.call('SET', counter, token, 'PX', keptMs)\n  end\nend\n\n-- Keeps it on with a lease that goes on.\nlocal function keepCounter(counter, counterMs, leaseMs)\n  if counterMs == '0' then\n    return\n  end\n  local keptMs = math.max(counterMs, leaseMs)\n  local leftMs = redis.call('PTTL', counter)\n  -- Not at every renewal, but before it would end sooner than the lease.\n  if leftMs >= 0 and leftMs < math.max(keptMs * 0.9, leaseMs) then\n    redis.call('PEXPIRE', counter, string.format('%.0f', keptMs))\n  end\nend\n\n-- The token after the last one: no less than the floor, which is the server's time where tokens may have\n-- been forgotten; and with so many below it that are new as well.\nlocal function nextToken(last, floorUs, reserve)\n  return string.format('%.0f', math.max((tonumber(last) or 0) + 1, floorUs) + reserve)\nend\n\n-- How many listen to a channel, in the way that it is published to: PUBLISH or SPUBLISH.\nlocal function listenersAt(channel, publish)\n  return redis.call('PUBSUB', publish == 'SPUBLISH' and 'SHARDNUMSUB' or 'NUMSUB', channel)[2]\nend\n\n-- A read-write lock of Redisson has a field `mode`. It looks at no other lock, and is refused.\nlocal READ_WRITE = 'WRONGTYPE a read-write lock has this name'\n\nlocal held = redis.call('HMGET', lock, from, to, 'mode')\nif held[3] then\n  return redis.error_reply(READ_WRITE)\nend\nlocal last = tonumber(redis.call('GET', counter) or nil)\nif held[2] and not held[1] then\n  return { 'granted', string.format('%.0f', last or token) }\nend\n-- The counter of one master of several may be anywhere, and its owners have a name for each hold.\nif not held[1] or vote ~= '1' and (last or 0) > tonumber(token) then\n  return { 'gone' }\nend\n\nlocal nowUs = serverTimeUs()\nif isLate(notAfterUs) then\n  return { 'late', serverTimeText() }\nend\nlocal others = listening and listenersAt(channel, publish) - listening or 0\nif others > 0 then\n  redis.call('DEL', lock)\n  redis.call(publish, channel, '0')\n  return { 'yielded', others }\nend\n\nlocal floorUs = vote == '1' and 0 or nowUs\nlocal highest = math.max(last or 0, tonumber(token))\nlocal newToken = nextToken(highest, floorUs, reserve)\nredis.call('HSET', lock, to, '1')\nredis.call('HDEL', lock, from)\nredis.call('PEXPIRE', lock, leaseMs)\nsetCounter(counter, newToken, counterMs, leaseMs)\nreturn { 'granted', newToken, reserve > 0 and reserve or nil }\n",
}

export interface HandOverArgs {
  readonly from: string
  readonly token: number
  readonly to: string
  readonly leaseMs: number
  readonly listening: number | ''
  readonly vote: boolean
  readonly reserve: number
}

export function handOverArgs(given: HandOverArgs, terms: Pick<Terms, 'notAfterUs' | 'counterMs' | 'publish'>, names: { readonly channel: string }): Args {
  const args: Value[] = [given.from, given.token, given.to, given.leaseMs, terms.notAfterUs, terms.counterMs, names.channel, terms.publish, given.listening, given.vote ? 1 : '', given.reserve]
  return args
}

export type HandOverReply = 
  | { readonly kind: 'granted'; readonly token: number; readonly reserved: number }
  | { readonly kind: 'yielded'; readonly others: number }
  | { readonly kind: 'gone' }

export function readHandOver(reply: unknown): HandOverReply {
  const list = listOf(reply)
  switch (list[0]) {
    case 'granted':
      sized(list, 2, 3)
      return { kind: 'granted', token: whole(list[1], 1), reserved: list.length > 2 ? whole(list[2], 0) : 0 }
    case 'yielded':
      sized(list, 2)
      return { kind: 'yielded', others: whole(list[1], 1) }
    case 'gone':
      sized(list, 1)
      return { kind: 'gone' }
    default:
      throw odd()
  }
}

export const inspect: Script<'channel' | 'publish' | 'most'> = {
  name: "lock/inspect",
  keys: ["lock","counter","queue","waiting"],
  args: ["channel","publish","most"],
  sha1: "7821eaf2766f86a27fd3ea02a988054384ccd1d5",
  source: "--[[\n  Tells who holds the lock and who queues for it, and changes nothing.\n\n  KEYS[1]  lock     hash: owner -> hold count\n  KEYS[2]  counter  string: the last fencing token issued for this lock\n  KEYS[3]  queue    zset: owner -> ticket, which is the server time in µs when it came\n  KEYS[4]  waiting  hash: client -> until when its places are alive, and its label\n  ARGV[1]  channel  where those who do not queue listen\n  ARGV[2]  publish  PUBLISH or SPUBLISH, as releases are told there\n  ARGV[3]  most     number: how many of those who queue are wanted\n\n  Returns\n    { holder: text or '' as null, holds, ttlMs >= -2, token: number or '' as null,\n      listeners, nowUs, queue: pairs, waiting: pairs, length }\n                             the first four are those of `peek`; queue is owners and tickets in order, the\n                             first ones; waiting is fields and values for their clients; length is how\n                             many queue\n]]\nlocal lock, counter, queue, waiting = KEYS[1], KEYS[2], KEYS[3], KEYS[4]\nlocal channel, publish, most = ARGV[1], ARGV[2], tonumber(ARGV[3])\n\n-- The server's time in µs: for all that one request does, that of the first who asked.\nlocal time, firstUs, firstText\nlocal function serverTimeUs()\n  if not firstUs then\n    time = redis.call('TIME')\n    firstUs = time[1] * 1000000 + time[2]\n  end\n  return firstUs\nend\n\n-- The same as a string: quicker than to format the number.\nlocal function serverTimeText()\n  if not firstText then\n    serverTimeUs()\n    firstText = time[1] .. string.sub('00000' .. time[2], -6)\n  end\n  return firstText\nend\n\n-- How many listen to a channel, in the way that it is published to: PUBLISH or SPUBLISH.\nlocal function listenersAt(channel, publish)\n  return redis.call('PUBSUB', publish == 'SPUBLISH' and 'SHARDNUMSUB' or 'NUMSUB', channel)[2]\nend\n\n-- A read-write lock of Redisson has a field `mode`. It looks at no other lock, and is refused.\nlocal READ_WRITE = 'WRONGTYPE a read-write lock has this name'\n\n-- Who has a lock: the script `peek`. Included after parts/read-write.lua.\nlocal function peek(lock, counter)\n  local fields = redis.call('HGETALL', lock)\n  for i = 1, #fields, 2 do\n    if fields[i] == 'mode' then\n      return redis.error_reply(READ_WRITE)\n    end\n  end\n  return {\n    fields[1] or '',\n    fields[2] or '0',\n    redis.call('PTTL', lock),\n    redis.call('GET', counter) or '',\n  }\nend\n\nlocal facts = peek(lock, counter)\nif facts.err then\n  return facts\nend\nlocal entries = redis.call('ZRANGE', queue, 0, most - 1, 'WITHSCORES')\nlocal marks, isKnown = {}, {}\nfor i = 1, #entries, 2 do\n  local client = string.match(entries[i], '^[^:]*')\n  if not isKnown[client] then\n    isKnown[client] = true\n    marks[#marks + 1] = client\n    marks[#marks + 1] = redis.call('HGET', waiting, client) or ''\n  end\nend\nfor _, fact in ipairs({\n  listenersAt(channel, publish),\n  serverTimeText(),\n  entries,\n  marks,\n  redis.call('ZCARD', queue),\n}) do\n  facts[#facts + 1] = fact\nend\nreturn facts\n",
}

export interface InspectArgs {
  readonly most: number
}

export function inspectArgs(given: InspectArgs, terms: Pick<Terms, 'publish'>, names: { readonly channel: string }): Args {
  const args: Value[] = [names.channel, terms.publish, given.most]
  return args
}

export type InspectReply = { readonly holder: string | null; readonly holds: number; readonly ttlMs: number; readonly token: number | null; readonly listeners: number; readonly nowUs: number; readonly queue: [string, string][]; readonly waiting: [string, string][]; readonly length: number }

export function readInspect(reply: unknown): InspectReply {
  const parts = listOf(reply)
  sized(parts, 9)
  return { holder: parts[0] === '' ? null : text(parts[0]), holds: whole(parts[1], 0), ttlMs: whole(parts[2], -2), token: parts[3] === '' ? null : whole(parts[3], 0), listeners: whole(parts[4], 0), nowUs: whole(parts[5], 0), queue: pairs(parts[6]), waiting: pairs(parts[7]), length: whole(parts[8], 0) }
}

export const peek: Script<never> = {
  name: "lock/peek",
  keys: ["lock","counter"],
  args: [],
  sha1: "17e7216fa92958c33f870972c0de9c1a340e64b4",
  source: "--[[\n  Tells who holds the lock, at the same cost however many wait for it, and changes nothing.\n\n  KEYS[1]  lock     hash: owner -> hold count\n  KEYS[2]  counter  string: the last fencing token issued for this lock\n\n  Returns\n    { holder: text or '' as null, holds, ttlMs >= -2, token: number or '' as null }\n                             holder is '' when the lock is free, ttlMs as PTTL answers it, token '' when\n                             there is none\n]]\n-- A read-write lock of Redisson has a field `mode`. It looks at no other lock, and is refused.\nlocal READ_WRITE = 'WRONGTYPE a read-write lock has this name'\n\n-- Who has a lock: the script `peek`. Included after parts/read-write.lua.\nlocal function peek(lock, counter)\n  local fields = redis.call('HGETALL', lock)\n  for i = 1, #fields, 2 do\n    if fields[i] == 'mode' then\n      return redis.error_reply(READ_WRITE)\n    end\n  end\n  return {\n    fields[1] or '',\n    fields[2] or '0',\n    redis.call('PTTL', lock),\n    redis.call('GET', counter) or '',\n  }\nend\n\nreturn peek(KEYS[1], KEYS[2])\n",
}

export type PeekReply = { readonly holder: string | null; readonly holds: number; readonly ttlMs: number; readonly token: number | null }

export function readPeek(reply: unknown): PeekReply {
  const parts = listOf(reply)
  sized(parts, 4)
  return { holder: parts[0] === '' ? null : text(parts[0]), holds: whole(parts[1], 0), ttlMs: whole(parts[2], -2), token: parts[3] === '' ? null : whole(parts[3], 0) }
}

export const release: Script<'owner' | 'token' | 'channel' | 'publish' | 'holds' | 'notAfterUs'> = {
  name: "lock/release",
  keys: ["lock","counter"],
  args: ["owner","token","channel","publish","holds","notAfterUs"],
  sha1: "ed889e846633b1aff880c85f54f16cfa5eb02f35",
  source: "--[[\n  Lowers the owner's hold count; at zero the lock is free and one message wakes the waiters.\n\n  Safe to run twice: the caller states the hold count it wants afterwards. A release that arrives\n  late cannot end a newer hold of the same owner, for that one has a newer token, nor lower a count\n  that was raised since.\n\n  KEYS[1]  lock        hash: owner -> hold count\n  KEYS[2]  counter     string: the last fencing token issued for this lock\n  ARGV[1]  owner       `<clientId>:<owner>`\n  ARGV[2]  token       number or '': the token of the hold to be ended; '' ends whatever hold the owner\n                       has\n  ARGV[3]  channel     where the waiters of this lock listen\n  ARGV[4]  publish     PUBLISH or SPUBLISH\n  ARGV[5]  holds=0     the hold count wanted after this call; 0 frees the lock\n  ARGV[6]  notAfterUs?  server time after which no count above 0 is set, in µs; 0 is never; left out\n                       with `holds`\n\n  Returns\n    { 'freed', listeners }   the lock is free now, and so many were told\n    { 'kept' }               the owner holds it still, with the count asked for\n    { 'gone' }               the owner did not hold it, or not under that token\n    { 'late', serverTimeUs >= 1 }  refused: it is later than notAfterUs\n]]\n-- The server's time in µs: for all that one request does, that of the first who asked.\nlocal time, firstUs, firstText\nlocal function serverTimeUs()\n  if not firstUs then\n    time = redis.call('TIME')\n    firstUs = time[1] * 1000000 + time[2]\n  end\n  return firstUs\nend\n\n-- The same as a string: quicker than to format the number.\nlocal function serverTimeText()\n  if not firstText then\n    serverTimeUs()\n    firstText = time[1] .. string.sub('00000' .. time[2], -6)\n  end\n  return firstText\nend\n\n-- Included after parts/server-time.lua. Whether a request came too late: after the time that it was\n-- given, or by a clock that was set back meanwhile, which shows in a time that is too far ahead. The last\n-- three digits of `notAfterUs` say how far it may be, in tenths of a second; 0 is any.\nlocal function isLate(notAfterUs)\n  if notAfterUs <= 0 then\n    return false\n  end\n  local aheadUs, mostUs = notAfterUs - serverTimeUs(), notAfterUs % 1000 * 100000\n  return aheadUs < 0 or mostUs > 0 and aheadUs > mostUs\nend\n\n-- Lowers an owner's hold count: the script `release`.\nlocal function release(lock, counter, owner, token, channel, publish, holds, notAfterUs)\n  holds, notAfterUs = tonumber(holds or 0), tonumber(notAfterUs or 0)\n\n  local found = redis.call('HMGET', lock, owner, 'mode')\n  local held = found[1]\n  if found[2] then\n    -- A read-write lock of Redisson, which looks at no other lock, is in it by now.\n    redis.call('HDEL', lock, owner)\n    return { 'gone' }\n  end\n  if not held then\n    return { 'gone' }\n  end\n  if token ~= '' then\n    -- The counter of one master of several may be behind; none is ahead but by a newer hold.\n    local last = redis.call('GET', counter)\n    if last and last ~= token and tonumber(last) > tonumber(token) then\n      return { 'gone' }\n    end\n  end\n\n  if holds == 0 then\n    redis.call('DEL', lock)\n    return { 'freed', redis.call(publish, channel, '0') }\n  end\n  if tonumber(held) <= holds then\n    return { 'kept' }\n  end\n  if isLate(notAfterUs) then\n    return { 'late', serverTimeText() }\n  end\n  local lowered = redis.pcall('HINCRBY', lock, owner, holds - held)\n  if type(lowered) == 'table' then\n    -- A full server refuses HINCRBY, but not in a script that has written something already.\n    local ttlMs = redis.call('PTTL', lock)\n    if ttlMs >= 0 then\n      redis.call('PEXPIRE', lock, ttlMs + 1)\n    else\n      redis.call('PERSIST', lock)\n    end\n    redis.call('HINCRBY', lock, owner, holds - held)\n  end\n  return { 'kept' }\nend\n\nreturn release(KEYS[1], KEYS[2], ARGV[1], ARGV[2], ARGV[3], ARGV[4], ARGV[5], ARGV[6])\n",
}

export interface ReleaseArgs {
  readonly owner: string
  readonly token: number | ''
  readonly holds?: number | undefined
}

export function releaseArgs(given: ReleaseArgs, terms: Pick<Terms, 'publish' | 'notAfterUs'>, names: { readonly channel: string }): Args {
  const args: Value[] = [given.owner, given.token, names.channel, terms.publish]
  if (given.holds !== undefined && given.holds !== 0) args.push(given.holds, terms.notAfterUs)
  return args
}

export type ReleaseReply = 
  | { readonly kind: 'freed'; readonly listeners: number }
  | { readonly kind: 'kept' }
  | { readonly kind: 'gone' }

export function readRelease(reply: unknown): ReleaseReply {
  const list = listOf(reply)
  switch (list[0]) {
    case 'freed':
      sized(list, 2)
      return { kind: 'freed', listeners: whole(list[1], 0) }
    case 'kept':
      sized(list, 1)
      return { kind: 'kept' }
    case 'gone':
      sized(list, 1)
      return { kind: 'gone' }
    default:
      throw odd()
  }
}

export const renew: Script<'leaseMs' | 'counterMs' | 'owners'> = {
  name: "lock/renew",
  keys: ["both"],
  args: ["leaseMs","counterMs","owners"],
  sha1: "5d092ccd2f93305a77d236cfebfbf29b282dc520",
  source: "--[[\n  Renews the leases of many locks at once. Never shortens one, never revives one.\n\n  KEYS[*]  both       of each lock, one after the other: the lock, a hash: owner -> hold count; its\n                      counter, a string: the last fencing token issued for this lock\n  ARGV[1]  leaseMs    every lock still held lives at least this long from now, in milliseconds;\n                      0 only looks\n  ARGV[2]  counterMs  how long the counters are kept from now, in milliseconds; 0 leaves them as they are\n  ARGV[*]  owners     text[]: the owner of each lock, in the order of the keys\n\n  Returns\n    leftMs[] >= -2  of each lock, what is left of its lease in milliseconds, -1 when it has no expiry,\n                    -2 when its owner does not hold it any more, or a read-write lock of Redisson, which\n                    looks at no other lock, is in it as well\n]]\nlocal leaseMs, counterMs = tonumber(ARGV[1]), ARGV[2]\n\n-- The server's time in µs: for all that one request does, that of the first who asked.\nlocal time, firstUs, firstText\nlocal function serverTimeUs()\n  if not firstUs then\n    time = redis.call('TIME')\n    firstUs = time[1] * 1000000 + time[2]\n  end\n  return firstUs\nend\n\n-- The same as a string: quicker than to format the number.\nlocal function serverTimeText()\n  if not firstText then\n    serverTimeUs()\n    firstText = time[1] .. string.sub('00000' .. time[2], -6)\n  end\n  return firstText\nend\n\n-- How long a counter is kept: for no less than the lease.\nlocal function counterKeptMs(counterMs, leaseMs)\n  return counterMs - leaseMs < 0 and leaseMs or counterMs\nend\n\n-- Writes a token down; `counterMs` of '0' is for good. It is kept for no less than the lease, and until the\n-- server's time has passed it: when it is gone the time takes its place.\nlocal function setCounter(counter, token, counterMs, leaseMs)\n  if counterMs == '0' then\n    redis.call('SET', counter, token)\n  else\n    local keptMs = counterKeptMs(counterMs, leaseMs)\n    local aheadMs = math.ceil((token - serverTimeUs()) / 1000)\n    if aheadMs > 0 then\n      keptMs = string.format('%.0f', keptMs + aheadMs)\n    end\n    redis.call('SET', counter, token, 'PX', keptMs)\n  end\nend\n\n-- Keeps it on with a lease that goes on.\nlocal function keepCounter(counter, counterMs, leaseMs)\n  if counterMs == '0' then\n    return\n  end\n  local keptMs = math.max(counterMs, leaseMs)\n  local leftMs = redis.call('PTTL', counter)\n  -- Not at every renewal, but before it would end sooner than the lease.\n  if leftMs >= 0 and leftMs < math.max(keptMs * 0.9, leaseMs) then\n    redis.call('PEXPIRE', counter, string.format('%.0f', keptMs))\n  end\nend\n\nlocal left = {}\nfor i = 1, #KEYS / 2 do\n  -- One key of another type must not cost the others their lease: pcall, and it counts as lost.\n  local lock = KEYS[2 * i - 1]\n  local found = redis.pcall('HMGET', lock, ARGV[i + 2], 'mode')\n  if found[1] and not found[2] then\n    left[i] = redis.call('PTTL', lock)\n    if left[i] < leaseMs and leaseMs > 0 then\n      redis.call('PEXPIRE', lock, leaseMs)\n      left[i] = leaseMs\n    end\n    if leaseMs > 0 then\n      keepCounter(KEYS[2 * i], counterMs, leaseMs)\n    end\n  else\n    left[i] = -2\n  end\nend\nreturn left\n",
}

export interface RenewArgs {
  readonly leaseMs: number
  readonly owners: readonly string[]
}

export function renewArgs(given: RenewArgs, terms: Pick<Terms, 'counterMs'>): Args {
  const args: Value[] = [given.leaseMs, terms.counterMs]
  for (const one of given.owners) args.push(one)
  return args
}

export type RenewReply = (number | undefined)[]

export function readRenew(reply: unknown): RenewReply {
  return listOf(reply).map((one) => wholeOrNone(one, -2))
}
