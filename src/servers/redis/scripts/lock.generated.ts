// Generated from the headers of lua/ by `npm run lua`. Do not edit.
import { flag, listOf, odd, pairs, remaining, remainingOrNone, sized, text, ttlMs, whole } from './reading.ts'
import type { Binding, NoArgs, Value } from './script.ts'
import type { Remaining } from '../../remaining.ts'

export interface AcquireAllArgs {
  readonly leaseMs: number
  readonly owners: readonly string[]
}

export type AcquireAllReply = 
  | { readonly kind: 'granted'; readonly token: number }
  | { readonly kind: 'held'; readonly ttlMs: Remaining; readonly n: number }

export const acquireAll: Binding<{ readonly both: readonly string[] }, AcquireAllArgs, AcquireAllReply> = {
  script: {
    name: "lock/acquire-all",
    keys: ["both"],
    args: ["leaseMs","notAfterUs","counterMs","owners"],
    sha1: "764e7e95c608d5547c46ec81ed35ad7d97d84506",
    source: "local leaseMs, notAfterUs, counterMs = tonumber(ARGV[1]), tonumber(ARGV[2]), ARGV[3]\nlocal time, firstUs, firstText\nlocal function serverTimeUs()\n  if not firstUs then\n    time = redis.call('TIME')\n    firstUs = time[1] * 1000000 + time[2]\n  end\n  return firstUs\nend\nlocal function serverTimeText()\n  if not firstText then\n    serverTimeUs()\n    firstText = time[1] .. string.sub('00000' .. time[2], -6)\n  end\n  return firstText\nend\nlocal function isLate(notAfterUs)\n  if notAfterUs <= 0 then\n    return false\n  end\n  local aheadUs, mostUs = notAfterUs - serverTimeUs(), notAfterUs % 1000 * 100000\n  return aheadUs < 0 or mostUs > 0 and aheadUs > mostUs\nend\nlocal function counterKeptMs(counterMs, leaseMs)\n  return counterMs - leaseMs < 0 and leaseMs or counterMs\nend\nlocal function setCounter(counter, token, counterMs, leaseMs)\n  if counterMs == '0' then\n    redis.call('SET', counter, token)\n  else\n    local keptMs = counterKeptMs(counterMs, leaseMs)\n    local aheadMs = math.ceil((token - serverTimeUs()) / 1000)\n    if aheadMs > 0 then\n      keptMs = string.format('%.0f', keptMs + aheadMs)\n    end\n    redis.call('SET', counter, token, 'PX', keptMs)\n  end\nend\nlocal function keepCounter(counter, counterMs, leaseMs)\n  if counterMs == '0' then\n    return\n  end\n  local keptMs = math.max(counterMs, leaseMs)\n  local leftMs = redis.call('PTTL', counter)\n  if leftMs >= 0 and leftMs < math.max(keptMs * 0.9, leaseMs) then\n    redis.call('PEXPIRE', counter, string.format('%.0f', keptMs))\n  end\nend\nlocal function nextToken(last, floorUs, reserve)\n  return string.format('%.0f', math.max((tonumber(last) or 0) + 1, floorUs) + reserve)\nend\nlocal READ_WRITE = 'WRONGTYPE a read-write lock has this name'\nlocal function refusalOfReplica(hash)\n  local tried = redis.pcall('HDEL', hash, '')\n  if type(tried) == 'table' and string.find(tried.err, 'READONLY', 1, true) then\n    return tried\n  end\nend\nlocal own, missing, last = 0, nil, 0\nfor n = 1, #KEYS / 2 do\n  local lock, owner = KEYS[2 * n - 1], ARGV[3 + n]\n  local ttlMs = redis.call('PTTL', lock)\n  local found = ttlMs ~= -2 and redis.call('HMGET', lock, owner, 'mode') or {}\n  if found[2] then\n    return redis.error_reply(READ_WRITE)\n  end\n  if ttlMs ~= -2 and not found[1] then\n    return refusalOfReplica(lock) or { 'held', ttlMs, n }\n  end\n  if found[1] then\n    own = own + 1\n  else\n    missing = missing or n\n  end\n  last = math.max(last, tonumber(redis.call('GET', KEYS[2 * n]) or 0))\nend\nif own > 0 and missing then\n  return { 'held', -2, missing }\nend\nlocal nowUs = serverTimeUs()\nif missing and isLate(notAfterUs) then\n  return { 'late', serverTimeText() }\nend\nlocal again = not missing and last > 0\nlocal token = again and string.format('%.0f', last) or nextToken(last, nowUs, 0)\nfor n = 1, #KEYS / 2 do\n  local lock = KEYS[2 * n - 1]\n  if missing then\n    redis.call('HSET', lock, ARGV[3 + n], '1')\n  end\n  if redis.call('PTTL', lock) < leaseMs then\n    redis.call('PEXPIRE', lock, leaseMs)\n  end\n  setCounter(KEYS[2 * n], token, counterMs, leaseMs)\nend\nreturn { 'granted', token }\n",
  },
  keysOf: (names) => [...names.both],
  argsOf: (given, terms) => {
    const args: Value[] = [given.leaseMs, terms.notAfterUs, terms.counterMs]
    for (const one of given.owners) args.push(one)
    return args
  },
  read: (reply) => {
    const list = listOf(reply)
    switch (list[0]) {
      case 'granted':
        sized(list, 2)
        return { kind: 'granted', token: whole(list[1], 1) }
      case 'held':
        sized(list, 3)
        return { kind: 'held', ttlMs: remaining(list[1]), n: whole(list[2], 1) }
      default:
        throw odd()
    }
  },
}

export interface AcquireArgs {
  readonly owner: string
  readonly leaseMs: number
  readonly holds?: number | undefined
  readonly reserve?: number | undefined
  readonly token?: number | undefined
}

export type AcquireReply = 
  | { readonly kind: 'granted'; readonly token: number; readonly reserved: number }
  | { readonly kind: 'held'; readonly ttlMs: number; readonly holder: string; readonly ageMs: number | null }
  | { readonly kind: 'gone' }

export const acquire: Binding<{ readonly lock: string; readonly counter: string }, AcquireArgs, AcquireReply> = {
  script: {
    name: "lock/acquire",
    keys: ["lock","counter"],
    args: ["owner","leaseMs","notAfterUs","counterMs","holds","reserve","token"],
    sha1: "acdcd3515ebd06e99539d90c6d9ca8e03f34a1cb",
    source: "local time, firstUs, firstText\nlocal function serverTimeUs()\n  if not firstUs then\n    time = redis.call('TIME')\n    firstUs = time[1] * 1000000 + time[2]\n  end\n  return firstUs\nend\nlocal function serverTimeText()\n  if not firstText then\n    serverTimeUs()\n    firstText = time[1] .. string.sub('00000' .. time[2], -6)\n  end\n  return firstText\nend\nlocal function isLate(notAfterUs)\n  if notAfterUs <= 0 then\n    return false\n  end\n  local aheadUs, mostUs = notAfterUs - serverTimeUs(), notAfterUs % 1000 * 100000\n  return aheadUs < 0 or mostUs > 0 and aheadUs > mostUs\nend\nlocal function counterKeptMs(counterMs, leaseMs)\n  return counterMs - leaseMs < 0 and leaseMs or counterMs\nend\nlocal function setCounter(counter, token, counterMs, leaseMs)\n  if counterMs == '0' then\n    redis.call('SET', counter, token)\n  else\n    local keptMs = counterKeptMs(counterMs, leaseMs)\n    local aheadMs = math.ceil((token - serverTimeUs()) / 1000)\n    if aheadMs > 0 then\n      keptMs = string.format('%.0f', keptMs + aheadMs)\n    end\n    redis.call('SET', counter, token, 'PX', keptMs)\n  end\nend\nlocal function keepCounter(counter, counterMs, leaseMs)\n  if counterMs == '0' then\n    return\n  end\n  local keptMs = math.max(counterMs, leaseMs)\n  local leftMs = redis.call('PTTL', counter)\n  if leftMs >= 0 and leftMs < math.max(keptMs * 0.9, leaseMs) then\n    redis.call('PEXPIRE', counter, string.format('%.0f', keptMs))\n  end\nend\nlocal function nextToken(last, floorUs, reserve)\n  return string.format('%.0f', math.max((tonumber(last) or 0) + 1, floorUs) + reserve)\nend\nlocal function issueToken(counter, counterMs, leaseMs, reserve)\n  local nowUs = serverTimeUs()\n  local token = reserve and string.format('%.0f', nowUs + reserve) or serverTimeText()\n  local last\n  if counterMs == '0' then\n    last = redis.call('SET', counter, token, 'GET')\n  else\n    last = redis.call('SET', counter, token, 'PX', counterKeptMs(counterMs, leaseMs), 'GET')\n  end\n  if (tonumber(last) or 0) >= nowUs then\n    token = nextToken(last, 0, reserve or 0)\n    setCounter(counter, token, counterMs, leaseMs)\n  end\n  return token\nend\nlocal READ_WRITE = 'WRONGTYPE a read-write lock has this name'\nlocal function refusalOfReplica(hash)\n  local tried = redis.pcall('HDEL', hash, '')\n  if type(tried) == 'table' and string.find(tried.err, 'READONLY', 1, true) then\n    return tried\n  end\nend\nlocal function acquire(\n  lock, counter, owner, leaseMs, notAfterUs, counterMs, holds, reserve, token, vote\n)\n  holds, reserve, notAfterUs = tonumber(holds or 1), tonumber(reserve or 0), tonumber(notAfterUs)\n  local reserved = reserve > 0 and reserve or nil\n  local reenters = token or holds > 1\n  local ttlMs = redis.call('PTTL', lock)\n  local found = ttlMs ~= -2 and redis.call('HMGET', lock, owner, 'mode') or {}\n  local held = found[1]\n  if found[2] then\n    return redis.error_reply(READ_WRITE)\n  end\n  if reenters and not held then\n    return { 'gone' }\n  end\n  if token and not vote and tonumber(redis.call('GET', counter) or 0) > tonumber(token) then\n    return { 'gone' }\n  end\n  if ttlMs ~= -2 and not held then\n    local refusal = not vote and refusalOfReplica(lock)\n    if refusal then\n      return refusal\n    end\n    local last = not vote and tonumber(redis.pcall('GET', counter))\n    local ageMs = last and math.max(0, math.floor((serverTimeUs() - last) / 1000)) or ''\n    return { 'held', ttlMs, redis.call('HGETALL', lock)[1], ageMs }\n  end\n  local nowUs = serverTimeUs()\n  local missing = holds - (held or 0)\n  if missing > 0 and isLate(notAfterUs) then\n    return { 'late', serverTimeText() }\n  end\n  local sinceUs\n  if vote and not held then\n    local replId, longest\n    sinceUs, replId, longest =\n      string.match(redis.call('GET', vote.birth) or '', '^(%d+) %S* %d (%x+) (%d+)$')\n    local line = replId and 'master_replid:' .. replId .. '\\r'\n    local isSame = line and string.find(replicationInfo(), line, 1, true)\n    if not isSame or longest - vote.longestMs < 0 then\n      return { 'forgot', '' }\n    elseif tonumber(sinceUs) > nowUs then\n      return { 'forgot', sinceUs }\n    end\n  end\n  if not held and not vote then\n    local newToken = issueToken(counter, counterMs, leaseMs, reserved)\n    redis.call('HSET', lock, owner, '1')\n    redis.call('PEXPIRE', lock, leaseMs)\n    return { 'granted', newToken, reserved }\n  end\n  local last = not reenters and redis.call('GET', counter)\n  if held then\n    if missing > 0 then\n      redis.call('HINCRBY', lock, owner, missing)\n    end\n    if ttlMs - leaseMs < 0 then\n      redis.call('PEXPIRE', lock, leaseMs)\n      keepCounter(counter, counterMs, leaseMs)\n    end\n    if reenters then\n      return { 'granted', '' }\n    end\n    if last then\n      return { 'granted', last }\n    end\n  end\n  if not held then\n    redis.call('HSET', lock, owner, '1')\n    redis.call('PEXPIRE', lock, leaseMs)\n  end\n  local floorUs = sinceUs and last and tonumber(sinceUs) or nowUs\n  local newToken = nextToken(last, floorUs, reserve)\n  setCounter(counter, newToken, counterMs, leaseMs)\n  return { 'granted', newToken, reserved }\nend\nreturn acquire(KEYS[1], KEYS[2], ARGV[1], ARGV[2], ARGV[3], ARGV[4], ARGV[5], ARGV[6], ARGV[7])\n",
  },
  keysOf: (names) => [names.lock, names.counter],
  argsOf: (given, terms) => {
    const args: Value[] = [given.owner, given.leaseMs, terms.notAfterUs, terms.counterMs]
    if (given.token !== undefined) args.push(given.holds ?? 1, given.reserve ?? 0, given.token)
    else if (given.reserve !== undefined && given.reserve !== 0) args.push(given.holds ?? 1, given.reserve)
    else if (given.holds !== undefined && given.holds !== 1) args.push(given.holds)
    return args
  },
  read: (reply) => {
    const list = listOf(reply)
    switch (list[0]) {
      case 'granted':
        sized(list, 2, 3)
        return { kind: 'granted', token: list[1] === '' ? 0 : whole(list[1], 1), reserved: list.length > 2 ? whole(list[2], 0) : 0 }
      case 'held':
        sized(list, 4)
        return { kind: 'held', ttlMs: ttlMs(list[1]), holder: text(list[2]), ageMs: list[3] === '' ? null : whole(list[3], 0) }
      case 'gone':
        sized(list, 1)
        return { kind: 'gone' }
      default:
        throw odd()
    }
  },
}

export interface BatchArgs {
  readonly longestMs: number | ''
  readonly kinds: string
  readonly own: readonly (string | number)[]
}

export type BatchReply = unknown

export const batch: Binding<{ readonly all: readonly string[] }, BatchArgs, BatchReply> = {
  script: {
    name: "lock/batch",
    keys: ["all"],
    args: ["notAfterUs","counterMs","publish","birth","longestMs","kinds","own"],
    sha1: "988bb2ba6e546f99b5fbe12d680d4569713b998c",
    source: "local notAfterUs, counterMs, publish = ARGV[1], ARGV[2], ARGV[3]\nlocal asVote, kinds = { birth = ARGV[4], longestMs = ARGV[5] }, ARGV[6]\nlocal time, firstUs, firstText\nlocal function serverTimeUs()\n  if not firstUs then\n    time = redis.call('TIME')\n    firstUs = time[1] * 1000000 + time[2]\n  end\n  return firstUs\nend\nlocal function serverTimeText()\n  if not firstText then\n    serverTimeUs()\n    firstText = time[1] .. string.sub('00000' .. time[2], -6)\n  end\n  return firstText\nend\nlocal function isLate(notAfterUs)\n  if notAfterUs <= 0 then\n    return false\n  end\n  local aheadUs, mostUs = notAfterUs - serverTimeUs(), notAfterUs % 1000 * 100000\n  return aheadUs < 0 or mostUs > 0 and aheadUs > mostUs\nend\nlocal function counterKeptMs(counterMs, leaseMs)\n  return counterMs - leaseMs < 0 and leaseMs or counterMs\nend\nlocal function setCounter(counter, token, counterMs, leaseMs)\n  if counterMs == '0' then\n    redis.call('SET', counter, token)\n  else\n    local keptMs = counterKeptMs(counterMs, leaseMs)\n    local aheadMs = math.ceil((token - serverTimeUs()) / 1000)\n    if aheadMs > 0 then\n      keptMs = string.format('%.0f', keptMs + aheadMs)\n    end\n    redis.call('SET', counter, token, 'PX', keptMs)\n  end\nend\nlocal function keepCounter(counter, counterMs, leaseMs)\n  if counterMs == '0' then\n    return\n  end\n  local keptMs = math.max(counterMs, leaseMs)\n  local leftMs = redis.call('PTTL', counter)\n  if leftMs >= 0 and leftMs < math.max(keptMs * 0.9, leaseMs) then\n    redis.call('PEXPIRE', counter, string.format('%.0f', keptMs))\n  end\nend\nlocal function nextToken(last, floorUs, reserve)\n  return string.format('%.0f', math.max((tonumber(last) or 0) + 1, floorUs) + reserve)\nend\nlocal function issueToken(counter, counterMs, leaseMs, reserve)\n  local nowUs = serverTimeUs()\n  local token = reserve and string.format('%.0f', nowUs + reserve) or serverTimeText()\n  local last\n  if counterMs == '0' then\n    last = redis.call('SET', counter, token, 'GET')\n  else\n    last = redis.call('SET', counter, token, 'PX', counterKeptMs(counterMs, leaseMs), 'GET')\n  end\n  if (tonumber(last) or 0) >= nowUs then\n    token = nextToken(last, 0, reserve or 0)\n    setCounter(counter, token, counterMs, leaseMs)\n  end\n  return token\nend\nlocal READ_WRITE = 'WRONGTYPE a read-write lock has this name'\nlocal replication\nlocal function replicationInfo()\n  if not replication then\n    local found = redis.pcall('INFO', 'replication')\n    replication = type(found) == 'string' and found or ''\n  end\n  return replication\nend\nlocal NO_ID = 'NOPERM the server does not tell its replication id, without which a master that was '\n  .. 'started anew, or was a replica, is not recognized; the user needs the right to INFO'\nlocal function refusalOfReplica(hash)\n  local tried = redis.pcall('HDEL', hash, '')\n  if type(tried) == 'table' and string.find(tried.err, 'READONLY', 1, true) then\n    return tried\n  end\nend\nlocal function acquire(\n  lock, counter, owner, leaseMs, notAfterUs, counterMs, holds, reserve, token, vote\n)\n  holds, reserve, notAfterUs = tonumber(holds or 1), tonumber(reserve or 0), tonumber(notAfterUs)\n  local reserved = reserve > 0 and reserve or nil\n  local reenters = token or holds > 1\n  local ttlMs = redis.call('PTTL', lock)\n  local found = ttlMs ~= -2 and redis.call('HMGET', lock, owner, 'mode') or {}\n  local held = found[1]\n  if found[2] then\n    return redis.error_reply(READ_WRITE)\n  end\n  if reenters and not held then\n    return { 'gone' }\n  end\n  if token and not vote and tonumber(redis.call('GET', counter) or 0) > tonumber(token) then\n    return { 'gone' }\n  end\n  if ttlMs ~= -2 and not held then\n    local refusal = not vote and refusalOfReplica(lock)\n    if refusal then\n      return refusal\n    end\n    local last = not vote and tonumber(redis.pcall('GET', counter))\n    local ageMs = last and math.max(0, math.floor((serverTimeUs() - last) / 1000)) or ''\n    return { 'held', ttlMs, redis.call('HGETALL', lock)[1], ageMs }\n  end\n  local nowUs = serverTimeUs()\n  local missing = holds - (held or 0)\n  if missing > 0 and isLate(notAfterUs) then\n    return { 'late', serverTimeText() }\n  end\n  local sinceUs\n  if vote and not held then\n    local replId, longest\n    sinceUs, replId, longest =\n      string.match(redis.call('GET', vote.birth) or '', '^(%d+) %S* %d (%x+) (%d+)$')\n    local line = replId and 'master_replid:' .. replId .. '\\r'\n    local isSame = line and string.find(replicationInfo(), line, 1, true)\n    if not isSame or longest - vote.longestMs < 0 then\n      return { 'forgot', '' }\n    elseif tonumber(sinceUs) > nowUs then\n      return { 'forgot', sinceUs }\n    end\n  end\n  if not held and not vote then\n    local newToken = issueToken(counter, counterMs, leaseMs, reserved)\n    redis.call('HSET', lock, owner, '1')\n    redis.call('PEXPIRE', lock, leaseMs)\n    return { 'granted', newToken, reserved }\n  end\n  local last = not reenters and redis.call('GET', counter)\n  if held then\n    if missing > 0 then\n      redis.call('HINCRBY', lock, owner, missing)\n    end\n    if ttlMs - leaseMs < 0 then\n      redis.call('PEXPIRE', lock, leaseMs)\n      keepCounter(counter, counterMs, leaseMs)\n    end\n    if reenters then\n      return { 'granted', '' }\n    end\n    if last then\n      return { 'granted', last }\n    end\n  end\n  if not held then\n    redis.call('HSET', lock, owner, '1')\n    redis.call('PEXPIRE', lock, leaseMs)\n  end\n  local floorUs = sinceUs and last and tonumber(sinceUs) or nowUs\n  local newToken = nextToken(last, floorUs, reserve)\n  setCounter(counter, newToken, counterMs, leaseMs)\n  return { 'granted', newToken, reserved }\nend\nlocal function release(lock, counter, owner, token, channel, publish, holds, notAfterUs)\n  holds, notAfterUs = tonumber(holds or 0), tonumber(notAfterUs or 0)\n  local found = redis.call('HMGET', lock, owner, 'mode')\n  local held = found[1]\n  if found[2] then\n    redis.call('HDEL', lock, owner)\n    return { 'gone' }\n  end\n  if not held then\n    redis.call('HDEL', lock, owner)\n    return { 'gone' }\n  end\n  if token ~= '' then\n    local last = redis.call('GET', counter)\n    if last and last ~= token and tonumber(last) > tonumber(token) then\n      return { 'gone' }\n    end\n  end\n  if holds == 0 then\n    redis.call('DEL', lock)\n    return { 'freed', redis.call(publish, channel, '0') }\n  end\n  if tonumber(held) <= holds then\n    return { 'kept' }\n  end\n  if isLate(notAfterUs) then\n    return { 'late', serverTimeText() }\n  end\n  local lowered = redis.pcall('HINCRBY', lock, owner, holds - held)\n  if type(lowered) == 'table' then\n    local ttlMs = redis.call('PTTL', lock)\n    if ttlMs >= 0 then\n      redis.call('PEXPIRE', lock, ttlMs + 1)\n    else\n      redis.call('PERSIST', lock)\n    end\n    redis.call('HINCRBY', lock, owner, holds - held)\n  end\n  return { 'kept' }\nend\nlocal scripts = {\n  a = function(lock, counter, owner, leaseMs, holds, reserve, token)\n    return acquire(lock, counter, owner, leaseMs, notAfterUs, counterMs, holds, reserve, token)\n  end,\n  v = function(lock, counter, owner, leaseMs, holds, reserve, token)\n    return acquire(\n      lock, counter, owner, leaseMs, notAfterUs, counterMs, holds, reserve, token, asVote\n    )\n  end,\n  r = function(lock, counter, owner, token, holds)\n    local channel = string.gsub(counter, '^redisson_lock_token', 'redisson_lock__channel')\n    return release(lock, counter, owner, token, channel, publish, holds, notAfterUs)\n  end,\n}\nlocal replies = {}\nlocal last = 6\nfor n = 1, #KEYS / 2 do\n  local first = last + 1\n  last = last + tonumber(string.sub(kinds, 2 * n, 2 * n))\n  local run = scripts[string.sub(kinds, 2 * n - 1, 2 * n - 1)]\n  local done, reply = pcall(run, KEYS[2 * n - 1], KEYS[2 * n], unpack(ARGV, first, last))\n  if not done or reply.err then\n    reply = { 'error', type(reply) == 'table' and reply.err or tostring(reply) }\n  end\n  local isUsual = reply[1] == 'granted' and not reply[3] or reply[1] == 'freed'\n  replies[n] = isUsual and reply[2] or reply\nend\nreturn replies\n",
  },
  keysOf: (names) => [...names.all],
  argsOf: (given, terms) => {
    const args: Value[] = [terms.notAfterUs, terms.counterMs, terms.publish, terms.birth, given.longestMs, given.kinds]
    for (const one of given.own) args.push(one)
    return args
  },
  read: (reply) => reply,
}

export interface ForceReleaseArgs {
  readonly owner: string
  readonly token: number | ''
  readonly forcedMs?: number | undefined
}

export type ForceReleaseReply = boolean

export const forceRelease: Binding<{ readonly lock: string; readonly counter: string; readonly forced?: string | undefined; readonly channel: string }, ForceReleaseArgs, ForceReleaseReply> = {
  script: {
    name: "lock/force-release",
    keys: ["lock","counter","forced"],
    args: ["owner","token","channel","publish","forcedMs"],
    sha1: "64c943b2048cf28f205b781ffd1325415d2a3944",
    source: "local lock, counter, forced = KEYS[1], KEYS[2], KEYS[3]\nlocal owner, token, channel, publish, forcedMs = ARGV[1], ARGV[2], ARGV[3], ARGV[4], ARGV[5]\nlocal READ_WRITE = 'WRONGTYPE a read-write lock has this name'\nlocal found = redis.call('HMGET', lock, owner, 'mode')\nif found[2] then\n  return redis.error_reply(READ_WRITE)\nend\nlocal last = tonumber(redis.call('GET', counter) or 0)\nif forced then\n  redis.call('HDEL', forced, '')\n  redis.call('HSET', forced, owner, '1')\n  redis.call('PEXPIRE', forced, forcedMs)\nend\nif not found[1] or token ~= '' and last > tonumber(token) then\n  return 0\nend\nredis.call('DEL', lock)\nredis.call(publish, channel, '0')\nreturn 1\n",
  },
  keysOf: (names) => {
    const keys = [names.lock, names.counter]
    if (names.forced !== undefined) keys.push(names.forced)
    return keys
  },
  argsOf: (given, terms, names) => {
    const args: Value[] = [given.owner, given.token, names.channel, terms.publish]
    if (given.forcedMs !== undefined) args.push(given.forcedMs)
    return args
  },
  read: (reply) => flag(reply),
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

export type HandOverReply = 
  | { readonly kind: 'granted'; readonly token: number; readonly reserved: number }
  | { readonly kind: 'yielded'; readonly others: number }
  | { readonly kind: 'gone' }

export const handOver: Binding<{ readonly lock: string; readonly counter: string; readonly channel: string }, HandOverArgs, HandOverReply> = {
  script: {
    name: "lock/hand-over",
    keys: ["lock","counter"],
    args: ["from","token","to","leaseMs","notAfterUs","counterMs","channel","publish","listening","vote","reserve"],
    sha1: "bb9a1b5588828530c6a2007c07e685da8d2e80da",
    source: "local lock, counter = KEYS[1], KEYS[2]\nlocal from, token, to, leaseMs = ARGV[1], ARGV[2], ARGV[3], ARGV[4]\nlocal notAfterUs, counterMs = tonumber(ARGV[5]), ARGV[6]\nlocal channel, publish, listening, vote = ARGV[7], ARGV[8], tonumber(ARGV[9]), ARGV[10]\nlocal reserve = tonumber(ARGV[11])\nlocal time, firstUs, firstText\nlocal function serverTimeUs()\n  if not firstUs then\n    time = redis.call('TIME')\n    firstUs = time[1] * 1000000 + time[2]\n  end\n  return firstUs\nend\nlocal function serverTimeText()\n  if not firstText then\n    serverTimeUs()\n    firstText = time[1] .. string.sub('00000' .. time[2], -6)\n  end\n  return firstText\nend\nlocal function isLate(notAfterUs)\n  if notAfterUs <= 0 then\n    return false\n  end\n  local aheadUs, mostUs = notAfterUs - serverTimeUs(), notAfterUs % 1000 * 100000\n  return aheadUs < 0 or mostUs > 0 and aheadUs > mostUs\nend\nlocal function counterKeptMs(counterMs, leaseMs)\n  return counterMs - leaseMs < 0 and leaseMs or counterMs\nend\nlocal function setCounter(counter, token, counterMs, leaseMs)\n  if counterMs == '0' then\n    redis.call('SET', counter, token)\n  else\n    local keptMs = counterKeptMs(counterMs, leaseMs)\n    local aheadMs = math.ceil((token - serverTimeUs()) / 1000)\n    if aheadMs > 0 then\n      keptMs = string.format('%.0f', keptMs + aheadMs)\n    end\n    redis.call('SET', counter, token, 'PX', keptMs)\n  end\nend\nlocal function keepCounter(counter, counterMs, leaseMs)\n  if counterMs == '0' then\n    return\n  end\n  local keptMs = math.max(counterMs, leaseMs)\n  local leftMs = redis.call('PTTL', counter)\n  if leftMs >= 0 and leftMs < math.max(keptMs * 0.9, leaseMs) then\n    redis.call('PEXPIRE', counter, string.format('%.0f', keptMs))\n  end\nend\nlocal function nextToken(last, floorUs, reserve)\n  return string.format('%.0f', math.max((tonumber(last) or 0) + 1, floorUs) + reserve)\nend\nlocal function listenersAt(channel, publish)\n  return redis.call('PUBSUB', publish == 'SPUBLISH' and 'SHARDNUMSUB' or 'NUMSUB', channel)[2]\nend\nlocal READ_WRITE = 'WRONGTYPE a read-write lock has this name'\nlocal held = redis.call('HMGET', lock, from, to, 'mode')\nif held[3] then\n  return redis.error_reply(READ_WRITE)\nend\nlocal last = tonumber(redis.call('GET', counter) or nil)\nif held[2] and not held[1] then\n  return { 'granted', string.format('%.0f', last or token) }\nend\nif not held[1] or vote ~= '1' and (last or 0) > tonumber(token) then\n  if not held[1] then\n    redis.call('HDEL', lock, from)\n  end\n  return { 'gone' }\nend\nlocal nowUs = serverTimeUs()\nif isLate(notAfterUs) then\n  return { 'late', serverTimeText() }\nend\nlocal others = listening and listenersAt(channel, publish) - listening or 0\nif others > 0 then\n  redis.call('DEL', lock)\n  redis.call(publish, channel, '0')\n  return { 'yielded', others }\nend\nlocal floorUs = vote == '1' and 0 or nowUs\nlocal highest = math.max(last or 0, tonumber(token))\nlocal newToken = nextToken(highest, floorUs, reserve)\nredis.call('HSET', lock, to, '1')\nredis.call('HDEL', lock, from)\nredis.call('PEXPIRE', lock, leaseMs)\nsetCounter(counter, newToken, counterMs, leaseMs)\nreturn { 'granted', newToken, reserve > 0 and reserve or nil }\n",
  },
  keysOf: (names) => [names.lock, names.counter],
  argsOf: (given, terms, names) => [given.from, given.token, given.to, given.leaseMs, terms.notAfterUs, terms.counterMs, names.channel, terms.publish, given.listening, given.vote ? 1 : '', given.reserve],
  read: (reply) => {
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
  },
}

export interface InspectArgs {
  readonly most: number
}

export type InspectReply = { readonly holder: string | null; readonly holds: number; readonly ttlMs: Remaining; readonly token: number | null; readonly listeners: number; readonly nowUs: number; readonly queue: [string, string][]; readonly waiting: [string, string][]; readonly length: number }

export const inspect: Binding<{ readonly lock: string; readonly counter: string; readonly queue: string; readonly waiting: string; readonly channel: string }, InspectArgs, InspectReply> = {
  script: {
    name: "lock/inspect",
    keys: ["lock","counter","queue","waiting"],
    args: ["channel","publish","most"],
    sha1: "9c2fb19fea1772869cbf531e00213fcaa9ad7e8f",
    source: "local lock, counter, queue, waiting = KEYS[1], KEYS[2], KEYS[3], KEYS[4]\nlocal channel, publish, most = ARGV[1], ARGV[2], tonumber(ARGV[3])\nlocal time, firstUs, firstText\nlocal function serverTimeUs()\n  if not firstUs then\n    time = redis.call('TIME')\n    firstUs = time[1] * 1000000 + time[2]\n  end\n  return firstUs\nend\nlocal function serverTimeText()\n  if not firstText then\n    serverTimeUs()\n    firstText = time[1] .. string.sub('00000' .. time[2], -6)\n  end\n  return firstText\nend\nlocal function listenersAt(channel, publish)\n  return redis.call('PUBSUB', publish == 'SPUBLISH' and 'SHARDNUMSUB' or 'NUMSUB', channel)[2]\nend\nlocal READ_WRITE = 'WRONGTYPE a read-write lock has this name'\nlocal function peek(lock, counter)\n  local fields = redis.call('HGETALL', lock)\n  for i = 1, #fields, 2 do\n    if fields[i] == 'mode' then\n      return redis.error_reply(READ_WRITE)\n    end\n  end\n  return {\n    fields[1] or '',\n    fields[2] or '0',\n    redis.call('PTTL', lock),\n    redis.call('GET', counter) or '',\n  }\nend\nlocal facts = peek(lock, counter)\nif facts.err then\n  return facts\nend\nlocal entries = redis.call('ZRANGE', queue, 0, most - 1, 'WITHSCORES')\nlocal marks, isKnown = {}, {}\nfor i = 1, #entries, 2 do\n  local client = string.match(entries[i], '^[^:]*')\n  if not isKnown[client] then\n    isKnown[client] = true\n    marks[#marks + 1] = client\n    marks[#marks + 1] = redis.call('HGET', waiting, client) or ''\n  end\nend\nfor _, fact in ipairs({\n  listenersAt(channel, publish),\n  serverTimeText(),\n  entries,\n  marks,\n  redis.call('ZCARD', queue),\n}) do\n  facts[#facts + 1] = fact\nend\nreturn facts\n",
  },
  keysOf: (names) => [names.lock, names.counter, names.queue, names.waiting],
  argsOf: (given, terms, names) => [names.channel, terms.publish, given.most],
  read: (reply) => {
    const parts = listOf(reply)
    sized(parts, 9)
    return { holder: parts[0] === '' ? null : text(parts[0]), holds: whole(parts[1], 0), ttlMs: remaining(parts[2]), token: parts[3] === '' ? null : whole(parts[3], 0), listeners: whole(parts[4], 0), nowUs: whole(parts[5], 0), queue: pairs(parts[6]), waiting: pairs(parts[7]), length: whole(parts[8], 0) }
  },
}

export type PeekReply = { readonly holder: string | null; readonly holds: number; readonly ttlMs: Remaining; readonly token: number | null }

export const peek: Binding<{ readonly lock: string; readonly counter: string }, NoArgs, PeekReply> = {
  script: {
    name: "lock/peek",
    keys: ["lock","counter"],
    args: [],
    sha1: "3e0b08657e0ac59d73fdda423ed4bb5fda716d4e",
    source: "local READ_WRITE = 'WRONGTYPE a read-write lock has this name'\nlocal function peek(lock, counter)\n  local fields = redis.call('HGETALL', lock)\n  for i = 1, #fields, 2 do\n    if fields[i] == 'mode' then\n      return redis.error_reply(READ_WRITE)\n    end\n  end\n  return {\n    fields[1] or '',\n    fields[2] or '0',\n    redis.call('PTTL', lock),\n    redis.call('GET', counter) or '',\n  }\nend\nreturn peek(KEYS[1], KEYS[2])\n",
  },
  keysOf: (names) => [names.lock, names.counter],
  argsOf: () => [],
  read: (reply) => {
    const parts = listOf(reply)
    sized(parts, 4)
    return { holder: parts[0] === '' ? null : text(parts[0]), holds: whole(parts[1], 0), ttlMs: remaining(parts[2]), token: parts[3] === '' ? null : whole(parts[3], 0) }
  },
}

export interface ReleaseArgs {
  readonly owner: string
  readonly token: number | ''
  readonly holds?: number | undefined
}

export type ReleaseReply = 
  | { readonly kind: 'freed'; readonly listeners: number }
  | { readonly kind: 'kept' }
  | { readonly kind: 'gone' }

export const release: Binding<{ readonly lock: string; readonly counter: string; readonly channel: string }, ReleaseArgs, ReleaseReply> = {
  script: {
    name: "lock/release",
    keys: ["lock","counter"],
    args: ["owner","token","channel","publish","holds","notAfterUs"],
    sha1: "4ea90c9d02232197b7477590b799ea1430b861d3",
    source: "local time, firstUs, firstText\nlocal function serverTimeUs()\n  if not firstUs then\n    time = redis.call('TIME')\n    firstUs = time[1] * 1000000 + time[2]\n  end\n  return firstUs\nend\nlocal function serverTimeText()\n  if not firstText then\n    serverTimeUs()\n    firstText = time[1] .. string.sub('00000' .. time[2], -6)\n  end\n  return firstText\nend\nlocal function isLate(notAfterUs)\n  if notAfterUs <= 0 then\n    return false\n  end\n  local aheadUs, mostUs = notAfterUs - serverTimeUs(), notAfterUs % 1000 * 100000\n  return aheadUs < 0 or mostUs > 0 and aheadUs > mostUs\nend\nlocal function release(lock, counter, owner, token, channel, publish, holds, notAfterUs)\n  holds, notAfterUs = tonumber(holds or 0), tonumber(notAfterUs or 0)\n  local found = redis.call('HMGET', lock, owner, 'mode')\n  local held = found[1]\n  if found[2] then\n    redis.call('HDEL', lock, owner)\n    return { 'gone' }\n  end\n  if not held then\n    redis.call('HDEL', lock, owner)\n    return { 'gone' }\n  end\n  if token ~= '' then\n    local last = redis.call('GET', counter)\n    if last and last ~= token and tonumber(last) > tonumber(token) then\n      return { 'gone' }\n    end\n  end\n  if holds == 0 then\n    redis.call('DEL', lock)\n    return { 'freed', redis.call(publish, channel, '0') }\n  end\n  if tonumber(held) <= holds then\n    return { 'kept' }\n  end\n  if isLate(notAfterUs) then\n    return { 'late', serverTimeText() }\n  end\n  local lowered = redis.pcall('HINCRBY', lock, owner, holds - held)\n  if type(lowered) == 'table' then\n    local ttlMs = redis.call('PTTL', lock)\n    if ttlMs >= 0 then\n      redis.call('PEXPIRE', lock, ttlMs + 1)\n    else\n      redis.call('PERSIST', lock)\n    end\n    redis.call('HINCRBY', lock, owner, holds - held)\n  end\n  return { 'kept' }\nend\nreturn release(KEYS[1], KEYS[2], ARGV[1], ARGV[2], ARGV[3], ARGV[4], ARGV[5], ARGV[6])\n",
  },
  keysOf: (names) => [names.lock, names.counter],
  argsOf: (given, terms, names) => {
    const args: Value[] = [given.owner, given.token, names.channel, terms.publish]
    if (given.holds !== undefined && given.holds !== 0) args.push(given.holds, terms.notAfterUs)
    return args
  },
  read: (reply) => {
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
  },
}

export interface RenewArgs {
  readonly leaseMs: number
  readonly owners: readonly string[]
}

export type RenewReply = (Remaining | undefined)[]

export const renew: Binding<{ readonly keys: readonly string[] }, RenewArgs, RenewReply> = {
  script: {
    name: "lock/renew",
    keys: ["keys"],
    args: ["leaseMs","counterMs","owners"],
    sha1: "08d44b9b59ddfb0d024740b23385f7487188b2db",
    source: "local leaseMs, counterMs = tonumber(ARGV[1]), ARGV[2]\nlocal time, firstUs, firstText\nlocal function serverTimeUs()\n  if not firstUs then\n    time = redis.call('TIME')\n    firstUs = time[1] * 1000000 + time[2]\n  end\n  return firstUs\nend\nlocal function serverTimeText()\n  if not firstText then\n    serverTimeUs()\n    firstText = time[1] .. string.sub('00000' .. time[2], -6)\n  end\n  return firstText\nend\nlocal function counterKeptMs(counterMs, leaseMs)\n  return counterMs - leaseMs < 0 and leaseMs or counterMs\nend\nlocal function setCounter(counter, token, counterMs, leaseMs)\n  if counterMs == '0' then\n    redis.call('SET', counter, token)\n  else\n    local keptMs = counterKeptMs(counterMs, leaseMs)\n    local aheadMs = math.ceil((token - serverTimeUs()) / 1000)\n    if aheadMs > 0 then\n      keptMs = string.format('%.0f', keptMs + aheadMs)\n    end\n    redis.call('SET', counter, token, 'PX', keptMs)\n  end\nend\nlocal function keepCounter(counter, counterMs, leaseMs)\n  if counterMs == '0' then\n    return\n  end\n  local keptMs = math.max(counterMs, leaseMs)\n  local leftMs = redis.call('PTTL', counter)\n  if leftMs >= 0 and leftMs < math.max(keptMs * 0.9, leaseMs) then\n    redis.call('PEXPIRE', counter, string.format('%.0f', keptMs))\n  end\nend\nlocal left = {}\nfor i = 1, #KEYS / 2 do\n  local lock = KEYS[2 * i - 1]\n  local found = redis.pcall('HMGET', lock, ARGV[i + 2], 'mode')\n  if found[1] and not found[2] then\n    left[i] = redis.call('PTTL', lock)\n    if left[i] < leaseMs and leaseMs > 0 then\n      redis.call('PEXPIRE', lock, leaseMs)\n      left[i] = leaseMs\n    end\n    if leaseMs > 0 then\n      keepCounter(KEYS[2 * i], counterMs, leaseMs)\n    end\n  else\n    if found[1] == false then\n      redis.call('HDEL', lock, ARGV[i + 2])\n    end\n    left[i] = -2\n  end\nend\nreturn left\n",
  },
  keysOf: (names) => [...names.keys],
  argsOf: (given, terms) => {
    const args: Value[] = [given.leaseMs, terms.counterMs]
    for (const one of given.owners) args.push(one)
    return args
  },
  read: (reply) => listOf(reply).map((one) => remainingOrNone(one)),
}
