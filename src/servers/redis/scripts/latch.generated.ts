// Generated from the headers of lua/ by `npm run lua`. Do not edit.
import { flag, listOf, odd, sized, whole } from './reading.ts'
import type { Binding, NoArgs, Value } from './script.ts'

export interface CountDownArgs {
  readonly askedUs: number
  readonly untilUs: number
  readonly ownRound?: number | undefined
}

export type CountDownReply = 
  | { readonly kind: 'counted'; readonly left: number; readonly round: number | null }
  | { readonly kind: 'over'; readonly setUs: number; readonly serverTimeUs: number }
  | { readonly kind: 'forgotten'; readonly serverTimeUs: number }

export const countDown: Binding<{ readonly latch: string; readonly round: string; readonly request: string; readonly kind: string; readonly channel: string }, CountDownArgs, CountDownReply> = {
  script: {
    name: "latch/count-down",
    keys: ["latch","round","request","kind"],
    args: ["askedUs","untilUs","channel","publish","ownRound"],
    sha1: "574a9833ceb33e9890afee6b97b779243e447d62",
    source: "local latch, round, request, kind = KEYS[1], KEYS[2], KEYS[3], KEYS[4]\nlocal askedUs, untilUs, channel, publish = tonumber(ARGV[1]), tonumber(ARGV[2]), ARGV[3], ARGV[4]\nlocal ownRound = ARGV[5]\nlocal time, firstUs, firstText\nlocal function serverTimeUs()\n  if not firstUs then\n    time = redis.call('TIME')\n    firstUs = time[1] * 1000000 + time[2]\n  end\n  return firstUs\nend\nlocal function serverTimeText()\n  if not firstText then\n    serverTimeUs()\n    firstText = time[1] .. string.sub('00000' .. time[2], -6)\n  end\n  return firstText\nend\nlocal function isLate(notAfterUs)\n  if notAfterUs <= 0 then\n    return false\n  end\n  local aheadUs, mostUs = notAfterUs - serverTimeUs(), notAfterUs % 1000 * 100000\n  return aheadUs < 0 or mostUs > 0 and aheadUs > mostUs\nend\nlocal LONGEST_KEPT_US = 90000000\nlocal function answerTo(request)\n  return redis.call('GET', request)\nend\nlocal function keepAnswer(request, answer, untilUs)\n  local untilUs = untilUs > 0 and untilUs or serverTimeUs() + LONGEST_KEPT_US\n  redis.call('SET', request, answer, 'PXAT', string.format('%.0f', math.ceil(untilUs / 1000) + 1000))\nend\nlocal KIND_MS = 604800000\nlocal DAY_MS = 86400000\nlocal OTHER_KIND = {\n  latch = 'WRONGTYPE a latch has this name',\n  permits = 'WRONGTYPE a semaphore with leases has this name',\n  semaphore = 'WRONGTYPE a semaphore without leases has this name',\n}\nlocal function numberOf(number, kind, own)\n  local text = redis.call('GET', number)\n  local noted = text and redis.call('GET', kind)\n  if noted and noted ~= own and OTHER_KIND[noted] then\n    return false, redis.error_reply(OTHER_KIND[noted])\n  end\n  return text\nend\nlocal function noteKind(kind, own)\n  redis.call('SET', kind, own, 'PX', KIND_MS)\nend\nlocal function keepKind(kind)\n  local leftMs = redis.call('PTTL', kind)\n  if leftMs >= 0 and leftMs < KIND_MS - DAY_MS then\n    redis.call('PEXPIRE', kind, KIND_MS)\n  end\nend\nlocal ROUND_MS = 2592000000\nlocal function countOf(latch, kind)\n  local count, refusal = numberOf(latch, kind, 'latch')\n  if not count then\n    return refusal or false\n  end\n  if not string.match(count, '^%-?%d+$') then\n    return redis.error_reply('WRONGTYPE a key that is no count has this name')\n  end\n  return tonumber(count)\nend\nlocal function isOfOtherRound(setUs, ownRound, askedUs)\n  if ownRound then\n    return setUs ~= ownRound\n  end\n  return setUs and askedUs > 0 and tonumber(setUs) > askedUs and tonumber(setUs) <= serverTimeUs()\nend\nlocal count = countOf(latch, kind)\nif type(count) == 'table' then\n  return count\nend\nlocal answer = answerTo(request)\nif answer then\n  local leftThen, roundThen = string.match(answer, '^(%d+) ?(%d*)$')\n  return { 'counted', leftThen, roundThen }\nend\nredis.call('DEL', request)\nif not count and not ownRound then\n  return { 'counted', 0, '' }\nend\nif isLate(untilUs) then\n  return { 'forgotten', serverTimeText() }\nend\nlocal setUs = count and redis.call('GET', round)\nif isOfOtherRound(setUs, ownRound, askedUs) then\n  return { 'over', setUs or '', serverTimeText() }\nend\nlocal left = count - 1\nif left > 0 then\n  left = redis.call('DECR', latch)\n  keepKind(kind)\nelse\n  redis.call('DEL', latch, round, kind)\nend\nif left < 0 then\n  return { 'counted', 0, '' }\nend\nkeepAnswer(request, left .. ' ' .. (setUs or ''), untilUs)\nif left == 0 then\n  redis.call(publish, channel, '0')\nend\nreturn { 'counted', left, setUs or '' }\n",
  },
  keysOf: (names) => [names.latch, names.round, names.request, names.kind],
  argsOf: (given, terms, names) => {
    const args: Value[] = [given.askedUs, given.untilUs, names.channel, terms.publish]
    if (given.ownRound !== undefined) args.push(given.ownRound)
    return args
  },
  read: (reply) => {
    const list = listOf(reply)
    switch (list[0]) {
      case 'counted':
        sized(list, 3)
        return { kind: 'counted', left: whole(list[1], 0), round: list[2] === '' ? null : whole(list[2], 0) }
      case 'over':
        sized(list, 3)
        return { kind: 'over', setUs: list[1] === '' ? 0 : whole(list[1], 0), serverTimeUs: whole(list[2], 1) }
      case 'forgotten':
        sized(list, 2)
        return { kind: 'forgotten', serverTimeUs: whole(list[1], 1) }
      default:
        throw odd()
    }
  },
}

export interface DeleteCountArgs {
  readonly askedUs: number
  readonly untilUs: number
  readonly ownRound?: number | undefined
}

export type DeleteCountReply = 
  | { readonly kind: 'done'; readonly isDeleted: boolean }
  | { readonly kind: 'over'; readonly setUs: number; readonly serverTimeUs: number }
  | { readonly kind: 'forgotten'; readonly serverTimeUs: number }

export const deleteCount: Binding<{ readonly latch: string; readonly round: string; readonly request: string; readonly kind: string; readonly channel: string }, DeleteCountArgs, DeleteCountReply> = {
  script: {
    name: "latch/delete-count",
    keys: ["latch","round","request","kind"],
    args: ["askedUs","untilUs","channel","publish","ownRound"],
    sha1: "9cc8f06116bbdc76c75998618f7fbf9c7a20d591",
    source: "local latch, round, request, kind = KEYS[1], KEYS[2], KEYS[3], KEYS[4]\nlocal askedUs, untilUs, channel, publish = tonumber(ARGV[1]), tonumber(ARGV[2]), ARGV[3], ARGV[4]\nlocal ownRound = ARGV[5]\nlocal time, firstUs, firstText\nlocal function serverTimeUs()\n  if not firstUs then\n    time = redis.call('TIME')\n    firstUs = time[1] * 1000000 + time[2]\n  end\n  return firstUs\nend\nlocal function serverTimeText()\n  if not firstText then\n    serverTimeUs()\n    firstText = time[1] .. string.sub('00000' .. time[2], -6)\n  end\n  return firstText\nend\nlocal function isLate(notAfterUs)\n  if notAfterUs <= 0 then\n    return false\n  end\n  local aheadUs, mostUs = notAfterUs - serverTimeUs(), notAfterUs % 1000 * 100000\n  return aheadUs < 0 or mostUs > 0 and aheadUs > mostUs\nend\nlocal LONGEST_KEPT_US = 90000000\nlocal function answerTo(request)\n  return redis.call('GET', request)\nend\nlocal function keepAnswer(request, answer, untilUs)\n  local untilUs = untilUs > 0 and untilUs or serverTimeUs() + LONGEST_KEPT_US\n  redis.call('SET', request, answer, 'PXAT', string.format('%.0f', math.ceil(untilUs / 1000) + 1000))\nend\nlocal KIND_MS = 604800000\nlocal DAY_MS = 86400000\nlocal OTHER_KIND = {\n  latch = 'WRONGTYPE a latch has this name',\n  permits = 'WRONGTYPE a semaphore with leases has this name',\n  semaphore = 'WRONGTYPE a semaphore without leases has this name',\n}\nlocal function numberOf(number, kind, own)\n  local text = redis.call('GET', number)\n  local noted = text and redis.call('GET', kind)\n  if noted and noted ~= own and OTHER_KIND[noted] then\n    return false, redis.error_reply(OTHER_KIND[noted])\n  end\n  return text\nend\nlocal function noteKind(kind, own)\n  redis.call('SET', kind, own, 'PX', KIND_MS)\nend\nlocal function keepKind(kind)\n  local leftMs = redis.call('PTTL', kind)\n  if leftMs >= 0 and leftMs < KIND_MS - DAY_MS then\n    redis.call('PEXPIRE', kind, KIND_MS)\n  end\nend\nlocal ROUND_MS = 2592000000\nlocal function countOf(latch, kind)\n  local count, refusal = numberOf(latch, kind, 'latch')\n  if not count then\n    return refusal or false\n  end\n  if not string.match(count, '^%-?%d+$') then\n    return redis.error_reply('WRONGTYPE a key that is no count has this name')\n  end\n  return tonumber(count)\nend\nlocal function isOfOtherRound(setUs, ownRound, askedUs)\n  if ownRound then\n    return setUs ~= ownRound\n  end\n  return setUs and askedUs > 0 and tonumber(setUs) > askedUs and tonumber(setUs) <= serverTimeUs()\nend\nlocal count = countOf(latch, kind)\nif type(count) == 'table' then\n  return count\nend\nlocal answer = answerTo(request)\nif answer then\n  return { 'done', answer }\nend\nredis.call('DEL', request)\nif isLate(untilUs) then\n  return { 'forgotten', serverTimeText() }\nend\nlocal setUs = count and redis.call('GET', round)\nif isOfOtherRound(setUs, ownRound, askedUs) then\n  return { 'over', setUs or '', serverTimeText() }\nend\nredis.call('DEL', latch, round, kind)\nkeepAnswer(request, count and '1' or '0', untilUs)\nif count then\n  redis.call(publish, channel, '1')\nend\nreturn { 'done', count and '1' or '0' }\n",
  },
  keysOf: (names) => [names.latch, names.round, names.request, names.kind],
  argsOf: (given, terms, names) => {
    const args: Value[] = [given.askedUs, given.untilUs, names.channel, terms.publish]
    if (given.ownRound !== undefined) args.push(given.ownRound)
    return args
  },
  read: (reply) => {
    const list = listOf(reply)
    switch (list[0]) {
      case 'done':
        sized(list, 2)
        return { kind: 'done', isDeleted: flag(list[1]) }
      case 'over':
        sized(list, 3)
        return { kind: 'over', setUs: list[1] === '' ? 0 : whole(list[1], 0), serverTimeUs: whole(list[2], 1) }
      case 'forgotten':
        sized(list, 2)
        return { kind: 'forgotten', serverTimeUs: whole(list[1], 1) }
      default:
        throw odd()
    }
  },
}

export type InspectReply = { readonly count: number; readonly listeners: number; readonly round: number | null }

export const inspect: Binding<{ readonly latch: string; readonly round: string; readonly kind: string; readonly channel: string }, NoArgs, InspectReply> = {
  script: {
    name: "latch/inspect",
    keys: ["latch","round","kind"],
    args: ["channel","publish"],
    sha1: "a307d19ed44ab450fcd6d9045c10bf4cbeb43303",
    source: "local latch, round, kind, channel, publish = KEYS[1], KEYS[2], KEYS[3], ARGV[1], ARGV[2]\nlocal time, firstUs, firstText\nlocal function serverTimeUs()\n  if not firstUs then\n    time = redis.call('TIME')\n    firstUs = time[1] * 1000000 + time[2]\n  end\n  return firstUs\nend\nlocal function serverTimeText()\n  if not firstText then\n    serverTimeUs()\n    firstText = time[1] .. string.sub('00000' .. time[2], -6)\n  end\n  return firstText\nend\nlocal function listenersAt(channel, publish)\n  return redis.call('PUBSUB', publish == 'SPUBLISH' and 'SHARDNUMSUB' or 'NUMSUB', channel)[2]\nend\nlocal KIND_MS = 604800000\nlocal DAY_MS = 86400000\nlocal OTHER_KIND = {\n  latch = 'WRONGTYPE a latch has this name',\n  permits = 'WRONGTYPE a semaphore with leases has this name',\n  semaphore = 'WRONGTYPE a semaphore without leases has this name',\n}\nlocal function numberOf(number, kind, own)\n  local text = redis.call('GET', number)\n  local noted = text and redis.call('GET', kind)\n  if noted and noted ~= own and OTHER_KIND[noted] then\n    return false, redis.error_reply(OTHER_KIND[noted])\n  end\n  return text\nend\nlocal function noteKind(kind, own)\n  redis.call('SET', kind, own, 'PX', KIND_MS)\nend\nlocal function keepKind(kind)\n  local leftMs = redis.call('PTTL', kind)\n  if leftMs >= 0 and leftMs < KIND_MS - DAY_MS then\n    redis.call('PEXPIRE', kind, KIND_MS)\n  end\nend\nlocal ROUND_MS = 2592000000\nlocal function countOf(latch, kind)\n  local count, refusal = numberOf(latch, kind, 'latch')\n  if not count then\n    return refusal or false\n  end\n  if not string.match(count, '^%-?%d+$') then\n    return redis.error_reply('WRONGTYPE a key that is no count has this name')\n  end\n  return tonumber(count)\nend\nlocal function isOfOtherRound(setUs, ownRound, askedUs)\n  if ownRound then\n    return setUs ~= ownRound\n  end\n  return setUs and askedUs > 0 and tonumber(setUs) > askedUs and tonumber(setUs) <= serverTimeUs()\nend\nlocal count = countOf(latch, kind)\nif type(count) == 'table' then\n  return count\nend\nlocal left = math.max(count or 0, 0)\nreturn { left, listenersAt(channel, publish), left > 0 and redis.call('GET', round) or '' }\n",
  },
  keysOf: (names) => [names.latch, names.round, names.kind],
  argsOf: (_, terms, names) => [names.channel, terms.publish],
  read: (reply) => {
    const parts = listOf(reply)
    sized(parts, 3)
    return { count: whole(parts[0], 0), listeners: whole(parts[1], 0), round: parts[2] === '' ? null : whole(parts[2], 0) }
  },
}

export type LookReply = { readonly count: number; readonly round: number | null; readonly serverTimeUs: number }

export const look: Binding<{ readonly latch: string; readonly round: string; readonly kind: string; readonly request: string }, NoArgs, LookReply> = {
  script: {
    name: "latch/look",
    keys: ["latch","round","kind","request"],
    args: [],
    sha1: "27609e35f0205228e9a1525794ff97b1e443badb",
    source: "local latch, round, kind, request = KEYS[1], KEYS[2], KEYS[3], KEYS[4]\nlocal time, firstUs, firstText\nlocal function serverTimeUs()\n  if not firstUs then\n    time = redis.call('TIME')\n    firstUs = time[1] * 1000000 + time[2]\n  end\n  return firstUs\nend\nlocal function serverTimeText()\n  if not firstText then\n    serverTimeUs()\n    firstText = time[1] .. string.sub('00000' .. time[2], -6)\n  end\n  return firstText\nend\nlocal KIND_MS = 604800000\nlocal DAY_MS = 86400000\nlocal OTHER_KIND = {\n  latch = 'WRONGTYPE a latch has this name',\n  permits = 'WRONGTYPE a semaphore with leases has this name',\n  semaphore = 'WRONGTYPE a semaphore without leases has this name',\n}\nlocal function numberOf(number, kind, own)\n  local text = redis.call('GET', number)\n  local noted = text and redis.call('GET', kind)\n  if noted and noted ~= own and OTHER_KIND[noted] then\n    return false, redis.error_reply(OTHER_KIND[noted])\n  end\n  return text\nend\nlocal function noteKind(kind, own)\n  redis.call('SET', kind, own, 'PX', KIND_MS)\nend\nlocal function keepKind(kind)\n  local leftMs = redis.call('PTTL', kind)\n  if leftMs >= 0 and leftMs < KIND_MS - DAY_MS then\n    redis.call('PEXPIRE', kind, KIND_MS)\n  end\nend\nlocal ROUND_MS = 2592000000\nlocal function countOf(latch, kind)\n  local count, refusal = numberOf(latch, kind, 'latch')\n  if not count then\n    return refusal or false\n  end\n  if not string.match(count, '^%-?%d+$') then\n    return redis.error_reply('WRONGTYPE a key that is no count has this name')\n  end\n  return tonumber(count)\nend\nlocal function isOfOtherRound(setUs, ownRound, askedUs)\n  if ownRound then\n    return setUs ~= ownRound\n  end\n  return setUs and askedUs > 0 and tonumber(setUs) > askedUs and tonumber(setUs) <= serverTimeUs()\nend\nredis.call('DEL', request)\nlocal count = countOf(latch, kind)\nif type(count) == 'table' then\n  return count\nend\nreturn { math.max(count or 0, 0), redis.call('GET', round) or '', serverTimeText() }\n",
  },
  keysOf: (names) => [names.latch, names.round, names.kind, names.request],
  argsOf: () => [],
  read: (reply) => {
    const parts = listOf(reply)
    sized(parts, 3)
    return { count: whole(parts[0], 0), round: parts[1] === '' ? null : whole(parts[1], 0), serverTimeUs: whole(parts[2], 1) }
  },
}

export interface SetCountArgs {
  readonly count: number
  readonly untilUs: number
}

export type SetCountReply = 
  | { readonly kind: 'done'; readonly isSet: boolean }
  | { readonly kind: 'forgotten'; readonly serverTimeUs: number }

export const setCount: Binding<{ readonly latch: string; readonly round: string; readonly request: string; readonly kind: string; readonly channel: string }, SetCountArgs, SetCountReply> = {
  script: {
    name: "latch/set-count",
    keys: ["latch","round","request","kind"],
    args: ["count","untilUs","channel","publish"],
    sha1: "a9f3986bfc5c09c0435455bc4000b1be775473e6",
    source: "local latch, round, request, kind = KEYS[1], KEYS[2], KEYS[3], KEYS[4]\nlocal count, untilUs, channel, publish = ARGV[1], tonumber(ARGV[2]), ARGV[3], ARGV[4]\nlocal time, firstUs, firstText\nlocal function serverTimeUs()\n  if not firstUs then\n    time = redis.call('TIME')\n    firstUs = time[1] * 1000000 + time[2]\n  end\n  return firstUs\nend\nlocal function serverTimeText()\n  if not firstText then\n    serverTimeUs()\n    firstText = time[1] .. string.sub('00000' .. time[2], -6)\n  end\n  return firstText\nend\nlocal function isLate(notAfterUs)\n  if notAfterUs <= 0 then\n    return false\n  end\n  local aheadUs, mostUs = notAfterUs - serverTimeUs(), notAfterUs % 1000 * 100000\n  return aheadUs < 0 or mostUs > 0 and aheadUs > mostUs\nend\nlocal LONGEST_KEPT_US = 90000000\nlocal function answerTo(request)\n  return redis.call('GET', request)\nend\nlocal function keepAnswer(request, answer, untilUs)\n  local untilUs = untilUs > 0 and untilUs or serverTimeUs() + LONGEST_KEPT_US\n  redis.call('SET', request, answer, 'PXAT', string.format('%.0f', math.ceil(untilUs / 1000) + 1000))\nend\nlocal KIND_MS = 604800000\nlocal DAY_MS = 86400000\nlocal OTHER_KIND = {\n  latch = 'WRONGTYPE a latch has this name',\n  permits = 'WRONGTYPE a semaphore with leases has this name',\n  semaphore = 'WRONGTYPE a semaphore without leases has this name',\n}\nlocal function numberOf(number, kind, own)\n  local text = redis.call('GET', number)\n  local noted = text and redis.call('GET', kind)\n  if noted and noted ~= own and OTHER_KIND[noted] then\n    return false, redis.error_reply(OTHER_KIND[noted])\n  end\n  return text\nend\nlocal function noteKind(kind, own)\n  redis.call('SET', kind, own, 'PX', KIND_MS)\nend\nlocal function keepKind(kind)\n  local leftMs = redis.call('PTTL', kind)\n  if leftMs >= 0 and leftMs < KIND_MS - DAY_MS then\n    redis.call('PEXPIRE', kind, KIND_MS)\n  end\nend\nlocal ROUND_MS = 2592000000\nlocal function countOf(latch, kind)\n  local count, refusal = numberOf(latch, kind, 'latch')\n  if not count then\n    return refusal or false\n  end\n  if not string.match(count, '^%-?%d+$') then\n    return redis.error_reply('WRONGTYPE a key that is no count has this name')\n  end\n  return tonumber(count)\nend\nlocal function isOfOtherRound(setUs, ownRound, askedUs)\n  if ownRound then\n    return setUs ~= ownRound\n  end\n  return setUs and askedUs > 0 and tonumber(setUs) > askedUs and tonumber(setUs) <= serverTimeUs()\nend\nlocal before = countOf(latch, kind)\nif type(before) == 'table' then\n  return before\nend\nlocal answer = answerTo(request)\nif answer then\n  return { 'done', answer }\nend\nif isLate(untilUs) then\n  return { 'forgotten', serverTimeText() }\nend\nif before then\n  keepAnswer(request, '0', untilUs)\n  return { 'done', '0' }\nend\nredis.call('SET', latch, count)\nredis.call('SET', round, serverTimeText(), 'PX', ROUND_MS)\nnoteKind(kind, 'latch')\nkeepAnswer(request, '1', untilUs)\nredis.call(publish, channel, '1')\nreturn { 'done', '1' }\n",
  },
  keysOf: (names) => [names.latch, names.round, names.request, names.kind],
  argsOf: (given, terms, names) => [given.count, given.untilUs, names.channel, terms.publish],
  read: (reply) => {
    const list = listOf(reply)
    switch (list[0]) {
      case 'done':
        sized(list, 2)
        return { kind: 'done', isSet: flag(list[1]) }
      case 'forgotten':
        sized(list, 2)
        return { kind: 'forgotten', serverTimeUs: whole(list[1], 1) }
      default:
        throw odd()
    }
  },
}
