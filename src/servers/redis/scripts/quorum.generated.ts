// Generated from the headers of lua/ by `npm run lua`. Do not edit.
import { flag, listOf, odd, sized, whole } from './reading.ts'
import type { Args, Script, Value } from './script.ts'
import type { Terms } from './terms.ts'

export const agree: Script<'owner' | 'token' | 'counterMs'> = {
  name: "quorum/agree",
  keys: ["lock","counter"],
  args: ["owner","token","counterMs"],
  sha1: "e39503c9714e36fc589a2784f9f4a984c272d2cf",
  source: "--[[\n  Tells a master of several the token that they agreed on, where it issued a lower one.\n\n  Safe to run twice. Whoever gets the lock next from a majority gets a token above this one.\n\n  KEYS[1]  lock       hash: owner -> hold count\n  KEYS[2]  counter    string: the last fencing token issued for this lock\n  ARGV[1]  owner      `<clientId>:<owner>`\n  ARGV[2]  token      number: the highest of those that the majority issued\n  ARGV[3]  counterMs  how long the counter is kept from now, in milliseconds; 0 is for good\n\n  Returns\n    1  the owner has the lock, and the counter is not below the token\n    0  the owner does not have the lock\n]]\nlocal lock, counter, owner, token, counterMs = KEYS[1], KEYS[2], ARGV[1], ARGV[2], ARGV[3]\n\n-- The server's time in µs: for all that one request does, that of the first who asked.\nlocal time, firstUs, firstText\nlocal function serverTimeUs()\n  if not firstUs then\n    time = redis.call('TIME')\n    firstUs = time[1] * 1000000 + time[2]\n  end\n  return firstUs\nend\n\n-- The same as a string: quicker than to format the number.\nlocal function serverTimeText()\n  if not firstText then\n    serverTimeUs()\n    firstText = time[1] .. string.sub('00000' .. time[2], -6)\n  end\n  return firstText\nend\n\n-- How long a counter is kept: for no less than the lease.\nlocal function counterKeptMs(counterMs, leaseMs)\n  return counterMs - leaseMs < 0 and leaseMs or counterMs\nend\n\n-- Writes a token down; `counterMs` of '0' is for good. It is kept for no less than the lease, and until the\n-- server's time has passed it: when it is gone the time takes its place.\nlocal function setCounter(counter, token, counterMs, leaseMs)\n  if counterMs == '0' then\n    redis.call('SET', counter, token)\n  else\n    local keptMs = counterKeptMs(counterMs, leaseMs)\n    local aheadMs = math.ceil((token - serverTimeUs()) / 1000)\n    if aheadMs > 0 then\n      keptMs = string.format('%.0f', keptMs + aheadMs)\n    end\n    redis.call('SET', counter, token, 'PX', keptMs)\n  end\nend\n\n-- Keeps it on with a lease that goes on.\nlocal function keepCounter(counter, counterMs, leaseMs)\n  if counterMs == '0' then\n    return\n  end\n  local keptMs = math.max(counterMs, leaseMs)\n  local leftMs = redis.call('PTTL', counter)\n  -- Not at every renewal, but before it would end sooner than the lease.\n  if leftMs >= 0 and leftMs < math.max(keptMs * 0.9, leaseMs) then\n    redis.call('PEXPIRE', counter, string.format('%.0f', keptMs))\n  end\nend\n\nif redis.call('HEXISTS', lock, owner) == 0 then\n  return 0\nend\nif tonumber(redis.call('GET', counter) or 0) < tonumber(token) then\n  setCounter(counter, token, counterMs, redis.call('PTTL', lock))\nend\nreturn 1\n",
}

export interface AgreeArgs {
  readonly owner: string
  readonly token: number
}

export function agreeArgs(given: AgreeArgs, terms: Pick<Terms, 'counterMs'>): Args {
  const args: Value[] = [given.owner, given.token, terms.counterMs]
  return args
}

export type AgreeReply = boolean

export function readAgree(reply: unknown): AgreeReply {
  return flag(reply)
}

export const enrol: Script<'runId' | 'restMs' | 'durable' | 'newborn'> = {
  name: "quorum/enrol",
  keys: ["birth"],
  args: ["runId","restMs","durable","newborn"],
  sha1: "90932f99d8d551c4e4105a4ed94728e20a19cd43",
  source: "--[[\n  Tells since when a master may vote. One that was started anew may have forgotten leases that run,\n  as may one that was a replica: it votes when the longest of them would be over, as the Redlock page\n  has it (\"delayed restarts\"). How long that is at the most is in the mark too: a client that takes\n  longer leases than all before it writes that down before it has a vote.\n\n  Safe to run twice, and by many clients: the first of them decides for a replication id.\n\n  KEYS[1]  birth    string: `<since when it votes, µs> <runId> <durable> <replId> <longestMs>`; the one\n                    key without an expiry\n  ARGV[1]  runId    the id of the server's process, as INFO tells it\n  ARGV[2]  restMs   how long the longest lease may be, in milliseconds\n  ARGV[3]  durable  1 or 0: whether the server writes everything to disk before it answers\n  ARGV[4]  newborn  1 or 0: whether none of the masters has ever been used\n\n  Returns\n    sinceUs  since when it votes, by the time of the server\n]]\n-- The server's time in µs: for all that one request does, that of the first who asked.\nlocal time, firstUs, firstText\nlocal function serverTimeUs()\n  if not firstUs then\n    time = redis.call('TIME')\n    firstUs = time[1] * 1000000 + time[2]\n  end\n  return firstUs\nend\n\n-- The same as a string: quicker than to format the number.\nlocal function serverTimeText()\n  if not firstText then\n    serverTimeUs()\n    firstText = time[1] .. string.sub('00000' .. time[2], -6)\n  end\n  return firstText\nend\n\n-- The mark of one master of several tells since when it votes: parts of the scripts `vote` and `enrol`.\n-- `<since, µs> <runId> <durable> <replId> <longestMs>`; one of an older Holdfast ends after <durable>.\n\n-- What the server tells of its replication: once for all that one request does.\nlocal replication\nlocal function replicationInfo()\n  if not replication then\n    local found = redis.pcall('INFO', 'replication')\n    replication = type(found) == 'string' and found or ''\n  end\n  return replication\nend\n\nlocal NO_ID = 'NOPERM the server does not tell its replication id, without which a master that was '\n  .. 'started anew, or was a replica, is not recognized; the user needs the right to INFO'\n\nlocal birth, runId, restMs = KEYS[1], ARGV[1], tonumber(ARGV[2])\nlocal durable, newborn = ARGV[3] == '1', ARGV[4] == '1'\n\nlocal info = replicationInfo()\nlocal ownId = string.match(info, 'master_replid:(%x+)')\nif not ownId then\n  return redis.error_reply(NO_ID)\nend\nlocal sinceUs, bornAs, wasDurable, rest =\n  string.match(redis.call('GET', birth) or '', '^(%d+) (%S*) (%d)(.*)$')\nlocal replId, longestMs = string.match(rest or '', '^ (%x+) (%d+)$')\nlongestMs = math.max(tonumber(longestMs or 0), restMs)\n\n-- What a server has written is all that there is only where no replica can have taken over with less.\nlocal wasReplica = string.match(info, 'second_repl_offset:(%-?%d+)') ~= '-1'\nlocal isAlone = string.match(info, 'role:(%a+)') == 'master' and not wasReplica\n  and string.match(info, 'connected_slaves:(%d+)') == '0'\n  and string.match(info, 'repl_backlog_active:(%d)') == '0'\ndurable = durable and isAlone\n\n-- A mark without the replication id is of an older Holdfast.\nlocal isKnown = replId == ownId\n  or (bornAs and not replId and bornAs ~= '' and bornAs == runId and not wasReplica)\nif isKnown then\n  durable = durable and wasDurable == '1'\nelse\n  -- What was written before the answer is there again, with the mark; else anything may be gone.\n  if not (replId and wasDurable == '1' and durable) then\n    local rests = bornAs or not newborn\n    sinceUs = string.format('%.0f', serverTimeUs() + (rests and longestMs * 1000 or 0))\n  end\nend\nlocal mark = string.format(\n  '%s %s %d %s %.0f', sinceUs, runId, durable and 1 or 0, ownId, longestMs\n)\nredis.call('SET', birth, mark)\nreturn sinceUs\n",
}

export interface EnrolArgs {
  readonly restMs: number
  readonly durable: boolean
  readonly newborn: boolean
}

export function enrolArgs(given: EnrolArgs, terms: Pick<Terms, 'runId'>): Args {
  const args: Value[] = [terms.runId, given.restMs, given.durable ? 1 : 0, given.newborn ? 1 : 0]
  return args
}

export type EnrolReply = number

export function readEnrol(reply: unknown): EnrolReply {
  return whole(reply, 0)
}

export const restore: Script<'owner' | 'holds' | 'leaseMs' | 'token' | 'notAfterUs' | 'counterMs'> = {
  name: "quorum/restore",
  keys: ["lock","counter","forced"],
  args: ["owner","holds","leaseMs","token","notAfterUs","counterMs"],
  sha1: "cdff91aaae73b4bc01b0322bc8af0c08ceae9314",
  source: "--[[\n  Gives a lock that a majority of masters has confirmed back to a master that does not have it.\n\n  Safe to run twice. A request that was delayed on its way is refused by server time: the hold may\n  be over by then.\n\n  KEYS[1]  lock        hash: owner -> hold count\n  KEYS[2]  counter     string: the last fencing token issued for this lock\n  KEYS[3]  forced      hash: the owners whom the lock was taken from by force\n  ARGV[1]  owner       `<clientId>:<owner>`\n  ARGV[2]  holds       number: the hold count\n  ARGV[3]  leaseMs     the key lives this long from now, in milliseconds\n  ARGV[4]  token       number: the token of the hold\n  ARGV[5]  notAfterUs  server time after which nothing is done, in µs; 0 is never\n  ARGV[6]  counterMs   how long the counter is kept from now, in milliseconds; 0 is for good\n\n  Returns\n    { 'held' }               the owner has the lock there\n    { 'gone' }               somebody else has it, or it was taken from the owner by force\n    { 'late', serverTimeUs >= 1 }  refused: it is later than notAfterUs\n]]\nlocal lock, counter, forced = KEYS[1], KEYS[2], KEYS[3]\nlocal owner, holds, leaseMs, token = ARGV[1], ARGV[2], ARGV[3], ARGV[4]\nlocal notAfterUs, counterMs = tonumber(ARGV[5]), ARGV[6]\n\n-- The server's time in µs: for all that one request does, that of the first who asked.\nlocal time, firstUs, firstText\nlocal function serverTimeUs()\n  if not firstUs then\n    time = redis.call('TIME')\n    firstUs = time[1] * 1000000 + time[2]\n  end\n  return firstUs\nend\n\n-- The same as a string: quicker than to format the number.\nlocal function serverTimeText()\n  if not firstText then\n    serverTimeUs()\n    firstText = time[1] .. string.sub('00000' .. time[2], -6)\n  end\n  return firstText\nend\n\n-- Included after parts/server-time.lua. Whether a request came too late: after the time that it was\n-- given, or by a clock that was set back meanwhile, which shows in a time that is too far ahead. The last\n-- three digits of `notAfterUs` say how far it may be, in tenths of a second; 0 is any.\nlocal function isLate(notAfterUs)\n  if notAfterUs <= 0 then\n    return false\n  end\n  local aheadUs, mostUs = notAfterUs - serverTimeUs(), notAfterUs % 1000 * 100000\n  return aheadUs < 0 or mostUs > 0 and aheadUs > mostUs\nend\n\n-- How long a counter is kept: for no less than the lease.\nlocal function counterKeptMs(counterMs, leaseMs)\n  return counterMs - leaseMs < 0 and leaseMs or counterMs\nend\n\n-- Writes a token down; `counterMs` of '0' is for good. It is kept for no less than the lease, and until the\n-- server's time has passed it: when it is gone the time takes its place.\nlocal function setCounter(counter, token, counterMs, leaseMs)\n  if counterMs == '0' then\n    redis.call('SET', counter, token)\n  else\n    local keptMs = counterKeptMs(counterMs, leaseMs)\n    local aheadMs = math.ceil((token - serverTimeUs()) / 1000)\n    if aheadMs > 0 then\n      keptMs = string.format('%.0f', keptMs + aheadMs)\n    end\n    redis.call('SET', counter, token, 'PX', keptMs)\n  end\nend\n\n-- Keeps it on with a lease that goes on.\nlocal function keepCounter(counter, counterMs, leaseMs)\n  if counterMs == '0' then\n    return\n  end\n  local keptMs = math.max(counterMs, leaseMs)\n  local leftMs = redis.call('PTTL', counter)\n  -- Not at every renewal, but before it would end sooner than the lease.\n  if leftMs >= 0 and leftMs < math.max(keptMs * 0.9, leaseMs) then\n    redis.call('PEXPIRE', counter, string.format('%.0f', keptMs))\n  end\nend\n\nif isLate(notAfterUs) then\n  return { 'late', serverTimeText() }\nend\nif redis.call('HLEN', lock) > 0 then\n  return { redis.call('HEXISTS', lock, owner) == 1 and 'held' or 'gone' }\nend\nif redis.call('HEXISTS', forced, owner) == 1 then\n  return { 'gone' }\nend\nredis.call('HSET', lock, owner, holds)\nredis.call('PEXPIRE', lock, leaseMs)\nif tonumber(redis.call('GET', counter) or 0) < tonumber(token) then\n  setCounter(counter, token, counterMs, leaseMs)\nend\nreturn { 'held' }\n",
}

export interface RestoreArgs {
  readonly owner: string
  readonly holds: number
  readonly leaseMs: number
  readonly token: number
}

export function restoreArgs(given: RestoreArgs, terms: Pick<Terms, 'notAfterUs' | 'counterMs'>): Args {
  const args: Value[] = [given.owner, given.holds, given.leaseMs, given.token, terms.notAfterUs, terms.counterMs]
  return args
}

export type RestoreReply = 
  | { readonly kind: 'held' }
  | { readonly kind: 'gone' }

export function readRestore(reply: unknown): RestoreReply {
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
}

export const vote: Script<'owner' | 'leaseMs' | 'notAfterUs' | 'counterMs' | 'birth' | 'longestMs' | 'holds' | 'reserve' | 'token'> = {
  name: "quorum/vote",
  keys: ["lock","counter"],
  args: ["owner","leaseMs","notAfterUs","counterMs","birth","longestMs","holds","reserve","token"],
  sha1: "5f8dbefade9697dbbd0c6feaa3376355c62e901c",
  source: "--[[\n  Asks one master of several for its vote: takes the lock there as `acquire` does, unless the master\n  may have forgotten a lease.\n\n  Safe to run twice, as `acquire` is. It counts on from the previous token where there is one, and\n  not from the time, so that masters stay in step. A token from before it forgot may not have been\n  the last: then it counts on from when it was to vote again.\n\n  KEYS[1]  lock        hash: owner -> hold count\n  KEYS[2]  counter     string: the last fencing token issued for this lock\n  ARGV[1]  owner       `<clientId>:<owner>`\n  ARGV[2]  leaseMs     the key lives at least this long from now, in milliseconds\n  ARGV[3]  notAfterUs  server time after which no count is raised, in µs; 0 is never\n  ARGV[4]  counterMs   how long the counter is kept from now, in milliseconds; 0 is for good\n  ARGV[5]  birth       the key that tells since when it may vote\n  ARGV[6]  longestMs   the longest lease that this client takes, in milliseconds\n  ARGV[7]  holds=1     the hold count wanted after this call; 1 is a first acquisition\n  ARGV[8]  reserve=0   how many tokens are wanted beside the one\n  ARGV[9]  token?      number: of a re-entry, the token of the hold that is re-entered, which is not\n                       compared, for the counter of one master may be anywhere; left out for a first\n                       acquisition\n\n  Returns\n    what `lock/acquire` returns, or\n    { 'forgot', sinceUs: number or '' as null }\n                             it may not vote before that time; '' when it has not been told since when,\n                             as this server and for so long leases: that is what `enrol` does\n]]\n-- The server's time in µs: for all that one request does, that of the first who asked.\nlocal time, firstUs, firstText\nlocal function serverTimeUs()\n  if not firstUs then\n    time = redis.call('TIME')\n    firstUs = time[1] * 1000000 + time[2]\n  end\n  return firstUs\nend\n\n-- The same as a string: quicker than to format the number.\nlocal function serverTimeText()\n  if not firstText then\n    serverTimeUs()\n    firstText = time[1] .. string.sub('00000' .. time[2], -6)\n  end\n  return firstText\nend\n\n-- Included after parts/server-time.lua. Whether a request came too late: after the time that it was\n-- given, or by a clock that was set back meanwhile, which shows in a time that is too far ahead. The last\n-- three digits of `notAfterUs` say how far it may be, in tenths of a second; 0 is any.\nlocal function isLate(notAfterUs)\n  if notAfterUs <= 0 then\n    return false\n  end\n  local aheadUs, mostUs = notAfterUs - serverTimeUs(), notAfterUs % 1000 * 100000\n  return aheadUs < 0 or mostUs > 0 and aheadUs > mostUs\nend\n\n-- How long a counter is kept: for no less than the lease.\nlocal function counterKeptMs(counterMs, leaseMs)\n  return counterMs - leaseMs < 0 and leaseMs or counterMs\nend\n\n-- Writes a token down; `counterMs` of '0' is for good. It is kept for no less than the lease, and until the\n-- server's time has passed it: when it is gone the time takes its place.\nlocal function setCounter(counter, token, counterMs, leaseMs)\n  if counterMs == '0' then\n    redis.call('SET', counter, token)\n  else\n    local keptMs = counterKeptMs(counterMs, leaseMs)\n    local aheadMs = math.ceil((token - serverTimeUs()) / 1000)\n    if aheadMs > 0 then\n      keptMs = string.format('%.0f', keptMs + aheadMs)\n    end\n    redis.call('SET', counter, token, 'PX', keptMs)\n  end\nend\n\n-- Keeps it on with a lease that goes on.\nlocal function keepCounter(counter, counterMs, leaseMs)\n  if counterMs == '0' then\n    return\n  end\n  local keptMs = math.max(counterMs, leaseMs)\n  local leftMs = redis.call('PTTL', counter)\n  -- Not at every renewal, but before it would end sooner than the lease.\n  if leftMs >= 0 and leftMs < math.max(keptMs * 0.9, leaseMs) then\n    redis.call('PEXPIRE', counter, string.format('%.0f', keptMs))\n  end\nend\n\n-- The token after the last one: no less than the floor, which is the server's time where tokens may have\n-- been forgotten; and with so many below it that are new as well.\nlocal function nextToken(last, floorUs, reserve)\n  return string.format('%.0f', math.max((tonumber(last) or 0) + 1, floorUs) + reserve)\nend\n\n-- A read-write lock of Redisson has a field `mode`. It looks at no other lock, and is refused.\nlocal READ_WRITE = 'WRONGTYPE a read-write lock has this name'\n\n-- The mark of one master of several tells since when it votes: parts of the scripts `vote` and `enrol`.\n-- `<since, µs> <runId> <durable> <replId> <longestMs>`; one of an older Holdfast ends after <durable>.\n\n-- What the server tells of its replication: once for all that one request does.\nlocal replication\nlocal function replicationInfo()\n  if not replication then\n    local found = redis.pcall('INFO', 'replication')\n    replication = type(found) == 'string' and found or ''\n  end\n  return replication\nend\n\nlocal NO_ID = 'NOPERM the server does not tell its replication id, without which a master that was '\n  .. 'started anew, or was a replica, is not recognized; the user needs the right to INFO'\n\n-- Included after parts/token.lua. Takes a lock for an owner, or re-enters it: the script `acquire`; and\n-- `vote`, where `vote` is a table: birth, longestMs.\nlocal function acquire(\n  lock, counter, owner, leaseMs, notAfterUs, counterMs, holds, reserve, token, vote\n)\n  holds, reserve, notAfterUs = tonumber(holds or 1), tonumber(reserve or 0), tonumber(notAfterUs)\n  local reserved = reserve > 0 and reserve or nil\n  local reenters = token or holds > 1\n\n  local ttlMs = redis.call('PTTL', lock)\n  local found = ttlMs ~= -2 and redis.call('HMGET', lock, owner, 'mode') or {}\n  local held = found[1]\n  if found[2] then\n    return redis.error_reply(READ_WRITE)\n  end\n  if reenters and not held then\n    return { 'gone' }\n  end\n  if token and not vote and tonumber(redis.call('GET', counter) or 0) > tonumber(token) then\n    return { 'gone' }\n  end\n  if ttlMs ~= -2 and not held then\n    return { 'held', ttlMs }\n  end\n\n  local nowUs = serverTimeUs()\n  local missing = holds - (held or 0)\n  if missing > 0 and isLate(notAfterUs) then\n    return { 'late', serverTimeText() }\n  end\n\n  local sinceUs\n  if vote and not held then\n    local replId, longest\n    sinceUs, replId, longest =\n      string.match(redis.call('GET', vote.birth) or '', '^(%d+) %S* %d (%x+) (%d+)$')\n    -- A server has another replication id each time that it starts, or is promoted, or gets its first\n    -- replica. It is asked for here: a connection can outlive all but the first.\n    local line = replId and 'master_replid:' .. replId .. '\\r'\n    local isSame = line and string.find(replicationInfo(), line, 1, true)\n    if not isSame or longest - vote.longestMs < 0 then\n      return { 'forgot', '' }\n    elseif tonumber(sinceUs) > nowUs then\n      return { 'forgot', sinceUs }\n    end\n  end\n\n  if not held and not vote then\n    -- The usual case, in as few commands as can be, and with texts: to write a number costs half of one.\n    local newToken = reserved and string.format('%.0f', nowUs + reserve) or serverTimeText()\n    local keptMs = counterKeptMs(counterMs, leaseMs)\n    local last = counterMs ~= '0' and redis.call('SET', counter, newToken, 'PX', keptMs, 'GET')\n      or redis.call('SET', counter, newToken, 'GET')\n    if (tonumber(last) or 0) >= nowUs then\n      newToken = nextToken(last, 0, reserve)\n      setCounter(counter, newToken, counterMs, leaseMs)\n    end\n    redis.call('HSET', lock, owner, '1')\n    redis.call('PEXPIRE', lock, leaseMs)\n    return { 'granted', newToken, reserved }\n  end\n\n  local last = not reenters and redis.call('GET', counter)\n\n  if held then\n    if missing > 0 then\n      redis.call('HINCRBY', lock, owner, missing)\n    end\n    if ttlMs - leaseMs < 0 then\n      redis.call('PEXPIRE', lock, leaseMs)\n      keepCounter(counter, counterMs, leaseMs)\n    end\n    if reenters then\n      return { 'granted', '' }\n    end\n    if last then\n      return { 'granted', last }\n    end\n  end\n\n  if not held then\n    redis.call('HSET', lock, owner, '1')\n    redis.call('PEXPIRE', lock, leaseMs)\n  end\n  local floorUs = sinceUs and last and tonumber(sinceUs) or nowUs\n  local newToken = nextToken(last, floorUs, reserve)\n  setCounter(counter, newToken, counterMs, leaseMs)\n  return { 'granted', newToken, reserved }\nend\n\nreturn acquire(\n  KEYS[1], KEYS[2], ARGV[1], ARGV[2], ARGV[3], ARGV[4], ARGV[7], ARGV[8], ARGV[9],\n  { birth = ARGV[5], longestMs = ARGV[6] }\n)\n",
}

export interface VoteArgs {
  readonly owner: string
  readonly leaseMs: number
  readonly longestMs: number
  readonly holds?: number | undefined
  readonly reserve?: number | undefined
  readonly token?: number | undefined
}

export function voteArgs(given: VoteArgs, terms: Pick<Terms, 'notAfterUs' | 'counterMs' | 'birth'>): Args {
  const args: Value[] = [given.owner, given.leaseMs, terms.notAfterUs, terms.counterMs, terms.birth, given.longestMs]
  if (given.token !== undefined) args.push(given.holds ?? 1, given.reserve ?? 0, given.token)
  else if (given.reserve !== undefined && given.reserve !== 0) args.push(given.holds ?? 1, given.reserve)
  else if (given.holds !== undefined && given.holds !== 1) args.push(given.holds)
  return args
}

export type VoteReply = 
  | { readonly kind: 'granted'; readonly token: number; readonly reserved: number }
  | { readonly kind: 'held'; readonly ttlMs: number }
  | { readonly kind: 'gone' }
  | { readonly kind: 'forgot'; readonly sinceUs: number | null }

export function readVote(reply: unknown): VoteReply {
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
    case 'forgot':
      sized(list, 2)
      return { kind: 'forgot', sinceUs: list[1] === '' ? null : whole(list[1], 0) }
    default:
      throw odd()
  }
}
