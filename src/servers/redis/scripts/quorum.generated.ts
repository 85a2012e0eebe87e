// Generated from the headers of lua/ by `npm run lua`. Do not edit.
import { flag, listOf, odd, sized, text, ttlMs, whole } from './reading.ts'
import type { Binding, Value } from './script.ts'

export interface AgreeArgs {
  readonly owner: string
  readonly token: number
}

export type AgreeReply = boolean

export const agree: Binding<{ readonly lock: string; readonly counter: string }, AgreeArgs, AgreeReply> = {
  script: {
    name: "quorum/agree",
    keys: ["lock","counter"],
    args: ["owner","token","counterMs"],
    sha1: "07ebc73d5ab4a1a03791a03d1398f335e2a9c4f0",
    source: "local lock, counter, owner, token, counterMs = KEYS[1], KEYS[2], ARGV[1], ARGV[2], ARGV[3]\nlocal time, firstUs, firstText\nlocal function serverTimeUs()\n  if not firstUs then\n    time = redis.call('TIME')\n    firstUs = time[1] * 1000000 + time[2]\n  end\n  return firstUs\nend\nlocal function serverTimeText()\n  if not firstText then\n    serverTimeUs()\n    firstText = time[1] .. string.sub('00000' .. time[2], -6)\n  end\n  return firstText\nend\nlocal function counterKeptMs(counterMs, leaseMs)\n  return counterMs - leaseMs < 0 and leaseMs or counterMs\nend\nlocal function setCounter(counter, token, counterMs, leaseMs)\n  if counterMs == '0' then\n    redis.call('SET', counter, token)\n  else\n    local keptMs = counterKeptMs(counterMs, leaseMs)\n    local aheadMs = math.ceil((token - serverTimeUs()) / 1000)\n    if aheadMs > 0 then\n      keptMs = string.format('%.0f', keptMs + aheadMs)\n    end\n    redis.call('SET', counter, token, 'PX', keptMs)\n  end\nend\nlocal function keepCounter(counter, counterMs, leaseMs)\n  if counterMs == '0' then\n    return\n  end\n  local keptMs = math.max(counterMs, leaseMs)\n  local leftMs = redis.call('PTTL', counter)\n  if leftMs >= 0 and leftMs < math.max(keptMs * 0.9, leaseMs) then\n    redis.call('PEXPIRE', counter, string.format('%.0f', keptMs))\n  end\nend\nif redis.call('HEXISTS', lock, owner) == 0 then\n  return 0\nend\nif tonumber(redis.call('GET', counter) or 0) < tonumber(token) then\n  setCounter(counter, token, counterMs, redis.call('PTTL', lock))\nend\nreturn 1\n",
  },
  keysOf: (names) => [names.lock, names.counter],
  argsOf: (given, terms) => [given.owner, given.token, terms.counterMs],
  read: (reply) => flag(reply),
}

export interface ClaimArgs {
  readonly restMs: number
  readonly durable: boolean
  readonly draft: string
  readonly deployment: string
}

export type ClaimReply = 
  | { readonly kind: 'claimed'; readonly sinceUs: number; readonly deployment: string; readonly restMs: number }
  | { readonly kind: 'known' }

export const claim: Binding<{ readonly birth: string }, ClaimArgs, ClaimReply> = {
  script: {
    name: "quorum/claim",
    keys: ["birth"],
    args: ["runId","restMs","durable","draft","deployment"],
    sha1: "ca0651de0e0332f940403726bffdeb851455df3f",
    source: "local time, firstUs, firstText\nlocal function serverTimeUs()\n  if not firstUs then\n    time = redis.call('TIME')\n    firstUs = time[1] * 1000000 + time[2]\n  end\n  return firstUs\nend\nlocal function serverTimeText()\n  if not firstText then\n    serverTimeUs()\n    firstText = time[1] .. string.sub('00000' .. time[2], -6)\n  end\n  return firstText\nend\nlocal replication\nlocal function replicationInfo()\n  if not replication then\n    local found = redis.pcall('INFO', 'replication')\n    replication = type(found) == 'string' and found or ''\n  end\n  return replication\nend\nlocal NO_ID = 'NOPERM the server does not tell its replication id, without which a master that was '\n  .. 'started anew, or was a replica, is not recognized; the user needs the right to INFO'\nlocal NEWER = 'NEWER the mark holdfast_birth was written by a newer version of Holdfast'\nlocal function readMark(birth)\n  local text = redis.call('GET', birth)\n  local sinceUs, origin, durable, rest = string.match(text or '', '^(%d+) (%S*) (%d)(.*)$')\n  if not sinceUs then\n    return nil, text and string.find(text, '^v%d+ ') and NEWER or nil\n  end\n  local replId, longestMs = string.match(rest, '^ (%x+) (%d+)$')\n  local runId, deployment, founder = string.match(origin, '^([^/]*)/?([^/]*)/?([^/]*)$')\n  return {\n    sinceUs = sinceUs, origin = origin, durable = durable == '1', replId = replId,\n    longestMs = tonumber(longestMs or 0), runId = runId, deployment = deployment or '', founder = founder or '',\n  }\nend\nlocal function writeMark(birth, mark)\n  local text = string.format(\n    '%s %s %d %s %.0f', mark.sinceUs, mark.origin, mark.durable and 1 or 0, mark.replId, mark.longestMs\n  )\n  redis.call('SET', birth, text)\nend\nlocal function wasReplica()\n  return string.match(replicationInfo(), 'second_repl_offset:(%-?%d+)') ~= '-1'\nend\nlocal function isAlone()\n  local info = replicationInfo()\n  return string.match(info, 'role:(%a+)') == 'master' and not wasReplica()\n    and string.match(info, 'connected_slaves:(%d+)') == '0'\n    and string.match(info, 'repl_backlog_active:(%d)') == '0'\nend\nlocal function ownReplId()\n  return string.match(replicationInfo(), 'master_replid:(%x+)')\nend\nlocal function isClaim(mark, ownId)\n  return mark.deployment ~= '' and mark.founder == '' and mark.replId == ownId\n    and tonumber(mark.sinceUs) > serverTimeUs()\nend\nlocal birth, runId, restMs, durable = KEYS[1], ARGV[1], tonumber(ARGV[2]), ARGV[3] == '1'\nlocal draft, deployment = ARGV[4], ARGV[5]\nlocal ownId = ownReplId()\nif not ownId then\n  return redis.error_reply(NO_ID)\nend\nlocal mark = readMark(birth)\nif not mark and redis.call('GET', birth) then\n  return { 'known' }\nend\nif not mark then\n  local id = deployment ~= '' and deployment or draft .. '.' .. serverTimeText()\n  mark = {\n    sinceUs = string.format('%.0f', serverTimeUs() + restMs * 1000), origin = runId .. '/' .. id,\n    durable = durable and isAlone(), replId = ownId, longestMs = restMs, deployment = id, founder = '',\n  }\n  writeMark(birth, mark)\nelseif not isClaim(mark, ownId) or deployment ~= '' and mark.deployment ~= deployment then\n  return { 'known' }\nend\nreturn { 'claimed', mark.sinceUs, mark.deployment, mark.longestMs }\n",
  },
  keysOf: (names) => [names.birth],
  argsOf: (given, terms) => [terms.runId, given.restMs, given.durable ? 1 : 0, given.draft, given.deployment],
  read: (reply) => {
    const list = listOf(reply)
    switch (list[0]) {
      case 'claimed':
        sized(list, 4)
        return { kind: 'claimed', sinceUs: whole(list[1], 0), deployment: text(list[2]), restMs: whole(list[3], 1) }
      case 'known':
        sized(list, 1)
        return { kind: 'known' }
      default:
        throw odd()
    }
  },
}

export interface EnrolArgs {
  readonly restMs: number
  readonly durable: boolean
}

export type EnrolReply = number

export const enrol: Binding<{ readonly birth: string }, EnrolArgs, EnrolReply> = {
  script: {
    name: "quorum/enrol",
    keys: ["birth"],
    args: ["runId","restMs","durable"],
    sha1: "5fd1b5853c7620724c56a0a808f9b8a40f362858",
    source: "local time, firstUs, firstText\nlocal function serverTimeUs()\n  if not firstUs then\n    time = redis.call('TIME')\n    firstUs = time[1] * 1000000 + time[2]\n  end\n  return firstUs\nend\nlocal function serverTimeText()\n  if not firstText then\n    serverTimeUs()\n    firstText = time[1] .. string.sub('00000' .. time[2], -6)\n  end\n  return firstText\nend\nlocal replication\nlocal function replicationInfo()\n  if not replication then\n    local found = redis.pcall('INFO', 'replication')\n    replication = type(found) == 'string' and found or ''\n  end\n  return replication\nend\nlocal NO_ID = 'NOPERM the server does not tell its replication id, without which a master that was '\n  .. 'started anew, or was a replica, is not recognized; the user needs the right to INFO'\nlocal NEWER = 'NEWER the mark holdfast_birth was written by a newer version of Holdfast'\nlocal function readMark(birth)\n  local text = redis.call('GET', birth)\n  local sinceUs, origin, durable, rest = string.match(text or '', '^(%d+) (%S*) (%d)(.*)$')\n  if not sinceUs then\n    return nil, text and string.find(text, '^v%d+ ') and NEWER or nil\n  end\n  local replId, longestMs = string.match(rest, '^ (%x+) (%d+)$')\n  local runId, deployment, founder = string.match(origin, '^([^/]*)/?([^/]*)/?([^/]*)$')\n  return {\n    sinceUs = sinceUs, origin = origin, durable = durable == '1', replId = replId,\n    longestMs = tonumber(longestMs or 0), runId = runId, deployment = deployment or '', founder = founder or '',\n  }\nend\nlocal function writeMark(birth, mark)\n  local text = string.format(\n    '%s %s %d %s %.0f', mark.sinceUs, mark.origin, mark.durable and 1 or 0, mark.replId, mark.longestMs\n  )\n  redis.call('SET', birth, text)\nend\nlocal function wasReplica()\n  return string.match(replicationInfo(), 'second_repl_offset:(%-?%d+)') ~= '-1'\nend\nlocal function isAlone()\n  local info = replicationInfo()\n  return string.match(info, 'role:(%a+)') == 'master' and not wasReplica()\n    and string.match(info, 'connected_slaves:(%d+)') == '0'\n    and string.match(info, 'repl_backlog_active:(%d)') == '0'\nend\nlocal function ownReplId()\n  return string.match(replicationInfo(), 'master_replid:(%x+)')\nend\nlocal function isClaim(mark, ownId)\n  return mark.deployment ~= '' and mark.founder == '' and mark.replId == ownId\n    and tonumber(mark.sinceUs) > serverTimeUs()\nend\nlocal birth, runId, restMs, durable = KEYS[1], ARGV[1], tonumber(ARGV[2]), ARGV[3] == '1'\nlocal ownId = ownReplId()\nif not ownId then\n  return redis.error_reply(NO_ID)\nend\nlocal found, refusal = readMark(birth)\nif refusal then\n  return redis.error_reply(refusal)\nend\nlocal mark = found or { replId = nil, longestMs = 0, durable = false }\nmark.longestMs = math.max(mark.longestMs, restMs)\ndurable = durable and isAlone()\nlocal isKnown = found and (mark.replId == ownId\n  or (not mark.replId and mark.runId ~= '' and mark.runId == runId and not wasReplica()))\nif isKnown then\n  durable = durable and mark.durable\nelse\n  if not (mark.replId and mark.durable and durable) then\n    mark.sinceUs = string.format('%.0f', serverTimeUs() + mark.longestMs * 1000)\n  end\n  mark.origin = runId\nend\nmark.durable, mark.replId = durable, ownId\nwriteMark(birth, mark)\nreturn mark.sinceUs\n",
  },
  keysOf: (names) => [names.birth],
  argsOf: (given, terms) => [terms.runId, given.restMs, given.durable ? 1 : 0],
  read: (reply) => whole(reply, 0),
}

export interface FoundArgs {
  readonly sinceUs: number
  readonly deployment: string
  readonly founder: string
  readonly restMs: number
}

export type FoundReply = boolean

export const found: Binding<{ readonly birth: string }, FoundArgs, FoundReply> = {
  script: {
    name: "quorum/found",
    keys: ["birth"],
    args: ["sinceUs","deployment","founder","restMs"],
    sha1: "e9caf5a8b60a3a291077f78a2842453df9955da2",
    source: "local time, firstUs, firstText\nlocal function serverTimeUs()\n  if not firstUs then\n    time = redis.call('TIME')\n    firstUs = time[1] * 1000000 + time[2]\n  end\n  return firstUs\nend\nlocal function serverTimeText()\n  if not firstText then\n    serverTimeUs()\n    firstText = time[1] .. string.sub('00000' .. time[2], -6)\n  end\n  return firstText\nend\nlocal replication\nlocal function replicationInfo()\n  if not replication then\n    local found = redis.pcall('INFO', 'replication')\n    replication = type(found) == 'string' and found or ''\n  end\n  return replication\nend\nlocal NO_ID = 'NOPERM the server does not tell its replication id, without which a master that was '\n  .. 'started anew, or was a replica, is not recognized; the user needs the right to INFO'\nlocal NEWER = 'NEWER the mark holdfast_birth was written by a newer version of Holdfast'\nlocal function readMark(birth)\n  local text = redis.call('GET', birth)\n  local sinceUs, origin, durable, rest = string.match(text or '', '^(%d+) (%S*) (%d)(.*)$')\n  if not sinceUs then\n    return nil, text and string.find(text, '^v%d+ ') and NEWER or nil\n  end\n  local replId, longestMs = string.match(rest, '^ (%x+) (%d+)$')\n  local runId, deployment, founder = string.match(origin, '^([^/]*)/?([^/]*)/?([^/]*)$')\n  return {\n    sinceUs = sinceUs, origin = origin, durable = durable == '1', replId = replId,\n    longestMs = tonumber(longestMs or 0), runId = runId, deployment = deployment or '', founder = founder or '',\n  }\nend\nlocal function writeMark(birth, mark)\n  local text = string.format(\n    '%s %s %d %s %.0f', mark.sinceUs, mark.origin, mark.durable and 1 or 0, mark.replId, mark.longestMs\n  )\n  redis.call('SET', birth, text)\nend\nlocal function wasReplica()\n  return string.match(replicationInfo(), 'second_repl_offset:(%-?%d+)') ~= '-1'\nend\nlocal function isAlone()\n  local info = replicationInfo()\n  return string.match(info, 'role:(%a+)') == 'master' and not wasReplica()\n    and string.match(info, 'connected_slaves:(%d+)') == '0'\n    and string.match(info, 'repl_backlog_active:(%d)') == '0'\nend\nlocal function ownReplId()\n  return string.match(replicationInfo(), 'master_replid:(%x+)')\nend\nlocal function isClaim(mark, ownId)\n  return mark.deployment ~= '' and mark.founder == '' and mark.replId == ownId\n    and tonumber(mark.sinceUs) > serverTimeUs()\nend\nlocal birth, sinceUs, deployment = KEYS[1], tonumber(ARGV[1]), ARGV[2]\nlocal founder, restMs = ARGV[3], tonumber(ARGV[4])\nlocal mark = readMark(birth)\nif not mark or mark.replId ~= ownReplId() or mark.deployment ~= deployment then\n  return 0\nend\nif mark.founder == founder then\n  return 1\nend\nif tonumber(mark.sinceUs) ~= sinceUs or sinceUs - serverTimeUs() < restMs * 500 then\n  return 0\nend\nmark.sinceUs = serverTimeText()\nmark.origin = mark.origin .. '/' .. founder\nmark.longestMs = math.max(mark.longestMs, restMs)\nwriteMark(birth, mark)\nreturn 1\n",
  },
  keysOf: (names) => [names.birth],
  argsOf: (given) => [given.sinceUs, given.deployment, given.founder, given.restMs],
  read: (reply) => flag(reply),
}

export interface RestoreArgs {
  readonly owner: string
  readonly holds: number
  readonly leaseMs: number
  readonly token: number
}

export type RestoreReply = 
  | { readonly kind: 'held' }
  | { readonly kind: 'gone' }

export const restore: Binding<{ readonly lock: string; readonly counter: string; readonly forced: string }, RestoreArgs, RestoreReply> = {
  script: {
    name: "quorum/restore",
    keys: ["lock","counter","forced"],
    args: ["owner","holds","leaseMs","token","notAfterUs","counterMs"],
    sha1: "35c40506af5aa0902336bae3e6ef1b5f621a69fd",
    source: "local lock, counter, forced = KEYS[1], KEYS[2], KEYS[3]\nlocal owner, holds, leaseMs, token = ARGV[1], ARGV[2], ARGV[3], ARGV[4]\nlocal notAfterUs, counterMs = tonumber(ARGV[5]), ARGV[6]\nlocal time, firstUs, firstText\nlocal function serverTimeUs()\n  if not firstUs then\n    time = redis.call('TIME')\n    firstUs = time[1] * 1000000 + time[2]\n  end\n  return firstUs\nend\nlocal function serverTimeText()\n  if not firstText then\n    serverTimeUs()\n    firstText = time[1] .. string.sub('00000' .. time[2], -6)\n  end\n  return firstText\nend\nlocal function isLate(notAfterUs)\n  if notAfterUs <= 0 then\n    return false\n  end\n  local aheadUs, mostUs = notAfterUs - serverTimeUs(), notAfterUs % 1000 * 100000\n  return aheadUs < 0 or mostUs > 0 and aheadUs > mostUs\nend\nlocal function counterKeptMs(counterMs, leaseMs)\n  return counterMs - leaseMs < 0 and leaseMs or counterMs\nend\nlocal function setCounter(counter, token, counterMs, leaseMs)\n  if counterMs == '0' then\n    redis.call('SET', counter, token)\n  else\n    local keptMs = counterKeptMs(counterMs, leaseMs)\n    local aheadMs = math.ceil((token - serverTimeUs()) / 1000)\n    if aheadMs > 0 then\n      keptMs = string.format('%.0f', keptMs + aheadMs)\n    end\n    redis.call('SET', counter, token, 'PX', keptMs)\n  end\nend\nlocal function keepCounter(counter, counterMs, leaseMs)\n  if counterMs == '0' then\n    return\n  end\n  local keptMs = math.max(counterMs, leaseMs)\n  local leftMs = redis.call('PTTL', counter)\n  if leftMs >= 0 and leftMs < math.max(keptMs * 0.9, leaseMs) then\n    redis.call('PEXPIRE', counter, string.format('%.0f', keptMs))\n  end\nend\nif isLate(notAfterUs) then\n  return { 'late', serverTimeText() }\nend\nif redis.call('HLEN', lock) > 0 then\n  return { redis.call('HEXISTS', lock, owner) == 1 and 'held' or 'gone' }\nend\nif redis.call('HEXISTS', forced, owner) == 1 then\n  return { 'gone' }\nend\nredis.call('HSET', lock, owner, holds)\nredis.call('PEXPIRE', lock, leaseMs)\nif tonumber(redis.call('GET', counter) or 0) < tonumber(token) then\n  setCounter(counter, token, counterMs, leaseMs)\nend\nreturn { 'held' }\n",
  },
  keysOf: (names) => [names.lock, names.counter, names.forced],
  argsOf: (given, terms) => [given.owner, given.holds, given.leaseMs, given.token, terms.notAfterUs, terms.counterMs],
  read: (reply) => {
    const list = listOf(reply)
    switch (list[0]) {
      case 'held':
        sized(list, 1)
        return { kind: 'held' }
      case 'gone':
        sized(list, 1)
        return { kind: 'gone' }
      default:
        throw odd()
    }
  },
}

export interface VoteArgs {
  readonly owner: string
  readonly leaseMs: number
  readonly longestMs: number
  readonly holds?: number | undefined
  readonly reserve?: number | undefined
  readonly token?: number | undefined
}

export type VoteReply = 
  | { readonly kind: 'granted'; readonly token: number; readonly reserved: number }
  | { readonly kind: 'held'; readonly ttlMs: number; readonly holder: string; readonly ageMs: number | null }
  | { readonly kind: 'gone' }
  | { readonly kind: 'forgot'; readonly sinceUs: number | null }

export const vote: Binding<{ readonly lock: string; readonly counter: string }, VoteArgs, VoteReply> = {
  script: {
    name: "quorum/vote",
    keys: ["lock","counter"],
    args: ["owner","leaseMs","notAfterUs","counterMs","birth","longestMs","holds","reserve","token"],
    sha1: "a7c657ca8ff961e1ab0ee9ccd64f0e51f1973819",
    source: "local time, firstUs, firstText\nlocal function serverTimeUs()\n  if not firstUs then\n    time = redis.call('TIME')\n    firstUs = time[1] * 1000000 + time[2]\n  end\n  return firstUs\nend\nlocal function serverTimeText()\n  if not firstText then\n    serverTimeUs()\n    firstText = time[1] .. string.sub('00000' .. time[2], -6)\n  end\n  return firstText\nend\nlocal function isLate(notAfterUs)\n  if notAfterUs <= 0 then\n    return false\n  end\n  local aheadUs, mostUs = notAfterUs - serverTimeUs(), notAfterUs % 1000 * 100000\n  return aheadUs < 0 or mostUs > 0 and aheadUs > mostUs\nend\nlocal function counterKeptMs(counterMs, leaseMs)\n  return counterMs - leaseMs < 0 and leaseMs or counterMs\nend\nlocal function setCounter(counter, token, counterMs, leaseMs)\n  if counterMs == '0' then\n    redis.call('SET', counter, token)\n  else\n    local keptMs = counterKeptMs(counterMs, leaseMs)\n    local aheadMs = math.ceil((token - serverTimeUs()) / 1000)\n    if aheadMs > 0 then\n      keptMs = string.format('%.0f', keptMs + aheadMs)\n    end\n    redis.call('SET', counter, token, 'PX', keptMs)\n  end\nend\nlocal function keepCounter(counter, counterMs, leaseMs)\n  if counterMs == '0' then\n    return\n  end\n  local keptMs = math.max(counterMs, leaseMs)\n  local leftMs = redis.call('PTTL', counter)\n  if leftMs >= 0 and leftMs < math.max(keptMs * 0.9, leaseMs) then\n    redis.call('PEXPIRE', counter, string.format('%.0f', keptMs))\n  end\nend\nlocal function nextToken(last, floorUs, reserve)\n  return string.format('%.0f', math.max((tonumber(last) or 0) + 1, floorUs) + reserve)\nend\nlocal function issueToken(counter, counterMs, leaseMs, reserve)\n  local nowUs = serverTimeUs()\n  local token = reserve and string.format('%.0f', nowUs + reserve) or serverTimeText()\n  local last\n  if counterMs == '0' then\n    last = redis.call('SET', counter, token, 'GET')\n  else\n    last = redis.call('SET', counter, token, 'PX', counterKeptMs(counterMs, leaseMs), 'GET')\n  end\n  if (tonumber(last) or 0) >= nowUs then\n    token = nextToken(last, 0, reserve or 0)\n    setCounter(counter, token, counterMs, leaseMs)\n  end\n  return token\nend\nlocal READ_WRITE = 'WRONGTYPE a read-write lock has this name'\nlocal replication\nlocal function replicationInfo()\n  if not replication then\n    local found = redis.pcall('INFO', 'replication')\n    replication = type(found) == 'string' and found or ''\n  end\n  return replication\nend\nlocal NO_ID = 'NOPERM the server does not tell its replication id, without which a master that was '\n  .. 'started anew, or was a replica, is not recognized; the user needs the right to INFO'\nlocal function refusalOfReplica(hash)\n  local tried = redis.pcall('HDEL', hash, '')\n  if type(tried) == 'table' and string.find(tried.err, 'READONLY', 1, true) then\n    return tried\n  end\nend\nlocal function acquire(\n  lock, counter, owner, leaseMs, notAfterUs, counterMs, holds, reserve, token, vote\n)\n  holds, reserve, notAfterUs = tonumber(holds or 1), tonumber(reserve or 0), tonumber(notAfterUs)\n  local reserved = reserve > 0 and reserve or nil\n  local reenters = token or holds > 1\n  local ttlMs = redis.call('PTTL', lock)\n  local found = ttlMs ~= -2 and redis.call('HMGET', lock, owner, 'mode') or {}\n  local held = found[1]\n  if found[2] then\n    return redis.error_reply(READ_WRITE)\n  end\n  if reenters and not held then\n    return { 'gone' }\n  end\n  if token and not vote and tonumber(redis.call('GET', counter) or 0) > tonumber(token) then\n    return { 'gone' }\n  end\n  if ttlMs ~= -2 and not held then\n    local refusal = not vote and refusalOfReplica(lock)\n    if refusal then\n      return refusal\n    end\n    local last = not vote and tonumber(redis.pcall('GET', counter))\n    local ageMs = last and math.max(0, math.floor((serverTimeUs() - last) / 1000)) or ''\n    return { 'held', ttlMs, redis.call('HGETALL', lock)[1], ageMs }\n  end\n  local nowUs = serverTimeUs()\n  local missing = holds - (held or 0)\n  if missing > 0 and isLate(notAfterUs) then\n    return { 'late', serverTimeText() }\n  end\n  local sinceUs\n  if vote and not held then\n    local replId, longest\n    sinceUs, replId, longest =\n      string.match(redis.call('GET', vote.birth) or '', '^(%d+) %S* %d (%x+) (%d+)$')\n    local line = replId and 'master_replid:' .. replId .. '\\r'\n    local isSame = line and string.find(replicationInfo(), line, 1, true)\n    if not isSame or longest - vote.longestMs < 0 then\n      return { 'forgot', '' }\n    elseif tonumber(sinceUs) > nowUs then\n      return { 'forgot', sinceUs }\n    end\n  end\n  if not held and not vote then\n    local newToken = issueToken(counter, counterMs, leaseMs, reserved)\n    redis.call('HSET', lock, owner, '1')\n    redis.call('PEXPIRE', lock, leaseMs)\n    return { 'granted', newToken, reserved }\n  end\n  local last = not reenters and redis.call('GET', counter)\n  if held then\n    if missing > 0 then\n      redis.call('HINCRBY', lock, owner, missing)\n    end\n    if ttlMs - leaseMs < 0 then\n      redis.call('PEXPIRE', lock, leaseMs)\n      keepCounter(counter, counterMs, leaseMs)\n    end\n    if reenters then\n      return { 'granted', '' }\n    end\n    if last then\n      return { 'granted', last }\n    end\n  end\n  if not held then\n    redis.call('HSET', lock, owner, '1')\n    redis.call('PEXPIRE', lock, leaseMs)\n  end\n  local floorUs = sinceUs and last and tonumber(sinceUs) or nowUs\n  local newToken = nextToken(last, floorUs, reserve)\n  setCounter(counter, newToken, counterMs, leaseMs)\n  return { 'granted', newToken, reserved }\nend\nreturn acquire(\n  KEYS[1], KEYS[2], ARGV[1], ARGV[2], ARGV[3], ARGV[4], ARGV[7], ARGV[8], ARGV[9],\n  { birth = ARGV[5], longestMs = ARGV[6] }\n)\n",
  },
  keysOf: (names) => [names.lock, names.counter],
  argsOf: (given, terms) => {
    const args: Value[] = [given.owner, given.leaseMs, terms.notAfterUs, terms.counterMs, terms.birth, given.longestMs]
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
      case 'forgot':
        sized(list, 2)
        return { kind: 'forgot', sinceUs: list[1] === '' ? null : whole(list[1], 0) }
      default:
        throw odd()
    }
  },
}
