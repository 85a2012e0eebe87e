// Generated from the headers of lua/ by `npm run lua`. Do not edit.
import { listOf, odd, sized, whole } from './reading.ts'
import type { Binding, NoArgs, Value } from './script.ts'

export interface ArriveArgs {
  readonly id: string
  readonly parties: number
  readonly leaseMs: number
  readonly round: number | ''
  readonly answered: readonly string[]
}

export type ArriveReply = 
  | { readonly kind: 'waiting'; readonly round: number; readonly arrived: number }
  | { readonly kind: 'passed' }
  | { readonly kind: 'gone' }
  | { readonly kind: 'other'; readonly parties: number }

export const arrive: Binding<{ readonly barrier: string; readonly state: string; readonly settled: string; readonly channel: string }, ArriveArgs, ArriveReply> = {
  script: {
    name: "barrier/arrive",
    keys: ["barrier","state","settled"],
    args: ["id","parties","leaseMs","round","notAfterUs","channel","publish","answered"],
    sha1: "1579641f2dad45c0daf043ff98c5d349da68eb61",
    source: "local barrier, state, settled = KEYS[1], KEYS[2], KEYS[3]\nlocal id, parties, leaseMs, ownRound = ARGV[1], tonumber(ARGV[2]), tonumber(ARGV[3]), ARGV[4]\nlocal notAfterUs, channel, publish = tonumber(ARGV[5]), ARGV[6], ARGV[7]\nlocal time, firstUs, firstText\nlocal function serverTimeUs()\n  if not firstUs then\n    time = redis.call('TIME')\n    firstUs = time[1] * 1000000 + time[2]\n  end\n  return firstUs\nend\nlocal function serverTimeText()\n  if not firstText then\n    serverTimeUs()\n    firstText = time[1] .. string.sub('00000' .. time[2], -6)\n  end\n  return firstText\nend\nlocal function isLate(notAfterUs)\n  if notAfterUs <= 0 then\n    return false\n  end\n  local aheadUs, mostUs = notAfterUs - serverTimeUs(), notAfterUs % 1000 * 100000\n  return aheadUs < 0 or mostUs > 0 and aheadUs > mostUs\nend\nlocal SETTLED_MS = 600000\nlocal function nowMs()\n  return math.floor(serverTimeUs() / 1000)\nend\nlocal function expiry(ms)\n  return string.format('%.0f', ms)\nend\nlocal function outcomeOf(barrier, settled, id)\n  redis.call('ZSCORE', barrier, id)\n  redis.call('ZREM', settled, '')\n  local scores = redis.call('ZMSCORE', settled, '=' .. id, '-' .. id)\n  return scores[1] and 'passed' or scores[2] and 'left' or nil\nend\nlocal function settle(settled, mark, ids)\n  local untilMs = nowMs() + SETTLED_MS\n  redis.call('ZREMRANGEBYSCORE', settled, '-inf', expiry(nowMs()))\n  for _, id in ipairs(ids) do\n    redis.call('ZADD', settled, expiry(untilMs), mark .. id)\n  end\n  redis.call('PEXPIREAT', settled, expiry(untilMs))\nend\nlocal function arrivedAt(barrier)\n  redis.call('ZREMRANGEBYSCORE', barrier, '-inf', '(' .. expiry(nowMs()))\n  return redis.call('ZCARD', barrier)\nend\nlocal outcome = outcomeOf(barrier, settled, id)\nfor i = 8, #ARGV do\n  redis.call('ZREM', settled, '=' .. ARGV[i], '-' .. ARGV[i])\nend\nif outcome then\n  return { outcome == 'passed' and 'passed' or 'gone' }\nend\nif isLate(notAfterUs) then\n  return { 'late', serverTimeText() }\nend\nlocal arrived = arrivedAt(barrier)\nlocal current, wanted = unpack(redis.call('HMGET', state, 'round', 'parties'))\nlocal isOpen = arrived > 0 and current\nif ownRound ~= '' and (not isOpen or current ~= ownRound) then\n  return { 'gone' }\nend\nif isOpen and tonumber(wanted) ~= parties then\n  return { 'other', wanted }\nend\nif not isOpen then\n  local last = tonumber(current or 0)\n  current = last < serverTimeUs() and serverTimeText() or string.format('%.0f', last + 1)\n  redis.call('HSET', state, 'round', current, 'parties', parties)\nend\nlocal endsMs = nowMs() + leaseMs\nredis.call('ZADD', barrier, expiry(endsMs), id)\narrived = redis.call('ZCARD', barrier)\nif arrived < parties then\n  for _, key in ipairs({ barrier, state }) do\n    if redis.call('PTTL', key) < leaseMs then\n      redis.call('PEXPIREAT', key, expiry(endsMs))\n    end\n  end\n  return { 'waiting', current, arrived }\nend\nsettle(settled, '=', redis.call('ZRANGE', barrier, 0, -1))\nredis.call('DEL', barrier)\nredis.call('PEXPIREAT', state, expiry(nowMs() + SETTLED_MS))\nredis.call(publish, channel, current)\nreturn { 'passed' }\n",
  },
  keysOf: (names) => [names.barrier, names.state, names.settled],
  argsOf: (given, terms, names) => {
    const args: Value[] = [given.id, given.parties, given.leaseMs, given.round, terms.notAfterUs, names.channel, terms.publish]
    for (const one of given.answered) args.push(one)
    return args
  },
  read: (reply) => {
    const list = listOf(reply)
    switch (list[0]) {
      case 'waiting':
        sized(list, 3)
        return { kind: 'waiting', round: whole(list[1], 1), arrived: whole(list[2], 1) }
      case 'passed':
        sized(list, 1)
        return { kind: 'passed' }
      case 'gone':
        sized(list, 1)
        return { kind: 'gone' }
      case 'other':
        sized(list, 2)
        return { kind: 'other', parties: whole(list[1], 1) }
      default:
        throw odd()
    }
  },
}

export type InspectReply = { readonly arrived: number; readonly parties: number | null; readonly round: number | null }

export const inspect: Binding<{ readonly barrier: string; readonly state: string }, NoArgs, InspectReply> = {
  script: {
    name: "barrier/inspect",
    keys: ["barrier","state"],
    args: [],
    sha1: "0a51813f848f85aedd35abb1d9e92f7ef8099daf",
    source: "local barrier, state = KEYS[1], KEYS[2]\nlocal time, firstUs, firstText\nlocal function serverTimeUs()\n  if not firstUs then\n    time = redis.call('TIME')\n    firstUs = time[1] * 1000000 + time[2]\n  end\n  return firstUs\nend\nlocal function serverTimeText()\n  if not firstText then\n    serverTimeUs()\n    firstText = time[1] .. string.sub('00000' .. time[2], -6)\n  end\n  return firstText\nend\nlocal SETTLED_MS = 600000\nlocal function nowMs()\n  return math.floor(serverTimeUs() / 1000)\nend\nlocal function expiry(ms)\n  return string.format('%.0f', ms)\nend\nlocal function outcomeOf(barrier, settled, id)\n  redis.call('ZSCORE', barrier, id)\n  redis.call('ZREM', settled, '')\n  local scores = redis.call('ZMSCORE', settled, '=' .. id, '-' .. id)\n  return scores[1] and 'passed' or scores[2] and 'left' or nil\nend\nlocal function settle(settled, mark, ids)\n  local untilMs = nowMs() + SETTLED_MS\n  redis.call('ZREMRANGEBYSCORE', settled, '-inf', expiry(nowMs()))\n  for _, id in ipairs(ids) do\n    redis.call('ZADD', settled, expiry(untilMs), mark .. id)\n  end\n  redis.call('PEXPIREAT', settled, expiry(untilMs))\nend\nlocal function arrivedAt(barrier)\n  redis.call('ZREMRANGEBYSCORE', barrier, '-inf', '(' .. expiry(nowMs()))\n  return redis.call('ZCARD', barrier)\nend\nlocal arrived = redis.call('ZCOUNT', barrier, expiry(nowMs()), '+inf')\nif arrived == 0 then\n  return { 0, '', '' }\nend\nlocal round, parties = unpack(redis.call('HMGET', state, 'round', 'parties'))\nreturn { arrived, parties or '', round or '' }\n",
  },
  keysOf: (names) => [names.barrier, names.state],
  argsOf: () => [],
  read: (reply) => {
    const parts = listOf(reply)
    sized(parts, 3)
    return { arrived: whole(parts[0], 0), parties: parts[1] === '' ? null : whole(parts[1], 0), round: parts[2] === '' ? null : whole(parts[2], 0) }
  },
}

export interface LeaveArgs {
  readonly id: string
}

export type LeaveReply = 
  | { readonly kind: 'left' }
  | { readonly kind: 'passed' }

export const leave: Binding<{ readonly barrier: string; readonly settled: string }, LeaveArgs, LeaveReply> = {
  script: {
    name: "barrier/leave",
    keys: ["barrier","settled"],
    args: ["id"],
    sha1: "9ecddccffeb4ea062866b20fc5c1075391861d9d",
    source: "local barrier, settled, id = KEYS[1], KEYS[2], ARGV[1]\nlocal time, firstUs, firstText\nlocal function serverTimeUs()\n  if not firstUs then\n    time = redis.call('TIME')\n    firstUs = time[1] * 1000000 + time[2]\n  end\n  return firstUs\nend\nlocal function serverTimeText()\n  if not firstText then\n    serverTimeUs()\n    firstText = time[1] .. string.sub('00000' .. time[2], -6)\n  end\n  return firstText\nend\nlocal SETTLED_MS = 600000\nlocal function nowMs()\n  return math.floor(serverTimeUs() / 1000)\nend\nlocal function expiry(ms)\n  return string.format('%.0f', ms)\nend\nlocal function outcomeOf(barrier, settled, id)\n  redis.call('ZSCORE', barrier, id)\n  redis.call('ZREM', settled, '')\n  local scores = redis.call('ZMSCORE', settled, '=' .. id, '-' .. id)\n  return scores[1] and 'passed' or scores[2] and 'left' or nil\nend\nlocal function settle(settled, mark, ids)\n  local untilMs = nowMs() + SETTLED_MS\n  redis.call('ZREMRANGEBYSCORE', settled, '-inf', expiry(nowMs()))\n  for _, id in ipairs(ids) do\n    redis.call('ZADD', settled, expiry(untilMs), mark .. id)\n  end\n  redis.call('PEXPIREAT', settled, expiry(untilMs))\nend\nlocal function arrivedAt(barrier)\n  redis.call('ZREMRANGEBYSCORE', barrier, '-inf', '(' .. expiry(nowMs()))\n  return redis.call('ZCARD', barrier)\nend\nlocal outcome = outcomeOf(barrier, settled, id)\nif outcome then\n  return { outcome }\nend\nredis.call('ZREM', barrier, id)\nsettle(settled, '-', { id })\nreturn { 'left' }\n",
  },
  keysOf: (names) => [names.barrier, names.settled],
  argsOf: (given) => [given.id],
  read: (reply) => {
    const list = listOf(reply)
    switch (list[0]) {
      case 'left':
        sized(list, 1)
        return { kind: 'left' }
      case 'passed':
        sized(list, 1)
        return { kind: 'passed' }
      default:
        throw odd()
    }
  },
}
