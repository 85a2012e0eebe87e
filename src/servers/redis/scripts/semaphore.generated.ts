// Generated from the headers of lua/ by `npm run lua`. Do not edit.
import { digits, flag, listOf, odd, pairs, sized, whole } from './reading.ts'
import type { Args, Script, Value } from './script.ts'
import type { Terms } from './terms.ts'

export const acquire: Script<'owner' | 'notAfterUs' | 'client' | 'last' | 'waitingMs' | 'since' | 'waitedMs' | 'tickets' | 'publish' | 'keptMs'> = {
  name: "semaphore/acquire",
  keys: ["semaphore","queue","alive","request","answered"],
  args: ["owner","notAfterUs","client","last","waitingMs","since","waitedMs","tickets","publish","keptMs"],
  sha1: "ca7304961673fc66e1fcb991a67e6f913c0f3373",
  source: "local keys = { semaphore = KEYS[1], queue = KEYS[2], alive = KEYS[3], request = KEYS[4] }\nlocal owner, notAfterUs, client, last = ARGV[1], tonumber(ARGV[2]), ARGV[3], ARGV[4] == '1'\nlocal waitingMs, since, waitedMs = tonumber(ARGV[5]), ARGV[6], tonumber(ARGV[7])\nlocal tickets, publish, keptMs = ARGV[8], ARGV[9], ARGV[10]\nlocal time, firstUs, firstText\nlocal function serverTimeUs()\n  if not firstUs then\n    time = redis.call('TIME')\n    firstUs = time[1] * 1000000 + time[2]\n  end\n  return firstUs\nend\nlocal function serverTimeText()\n  if not firstText then\n    serverTimeUs()\n    firstText = time[1] .. string.sub('00000' .. time[2], -6)\n  end\n  return firstText\nend\nlocal function isLate(notAfterUs)\n  if notAfterUs <= 0 then\n    return false\n  end\n  local aheadUs, mostUs = notAfterUs - serverTimeUs(), notAfterUs % 1000 * 100000\n  return aheadUs < 0 or mostUs > 0 and aheadUs > mostUs\nend\nlocal function sinceOf(toldUs, waitedMs)\n  local told = tonumber(toldUs)\n  if told and told <= serverTimeUs() then\n    return told\n  end\n  return math.floor(serverTimeUs() - waitedMs * 1000)\nend\nlocal MOST_AHEAD_MS = 10000\nlocal function markOf(keys, client, nowMs)\n  local untilMs, permits = string.match(redis.call('HGET', keys.alive, client) or '', '^(%d+) (%d+)$')\n  if untilMs and untilMs - nowMs >= 0 and untilMs - nowMs <= MOST_AHEAD_MS then\n    return untilMs, permits\n  end\nend\nlocal function listWaiting(keys, most)\n  local nowMs = serverTimeUs() / 1000\n  local found = most > 0 and redis.call('ZRANGE', keys.queue, 0, most - 1, 'WITHSCORES') or {}\n  local waiting, wanted = {}, {}\n  for i = 1, #found, 2 do\n    local _, permits = markOf(keys, found[i], nowMs)\n    if permits then\n      waiting[#waiting + 1] = found[i]\n      waiting[#waiting + 1] = found[i + 1]\n      wanted[#wanted + 1] = found[i]\n      wanted[#wanted + 1] = permits\n    end\n  end\n  return waiting, wanted\nend\nlocal function firstOf(keys)\n  local nowMs = serverTimeUs() / 1000\n  for _ = 1, 1000 do\n    local found = redis.call('ZRANGE', keys.queue, 0, 0, 'WITHSCORES')\n    local client = found[1]\n    if not client then\n      return nil\n    end\n    local untilMs, permits = markOf(keys, client, nowMs)\n    if untilMs then\n      return client, tonumber(found[2]), tonumber(permits), tonumber(untilMs)\n    end\n    redis.call('ZREM', keys.queue, client)\n    redis.call('HDEL', keys.alive, client)\n  end\nend\nlocal function isNext(keys, client, sinceUs)\n  local first, firstUs = firstOf(keys)\n  if first == client and firstUs - sinceUs < 0 then\n    redis.call('ZADD', keys.queue, string.format('%.0f', sinceUs), client)\n    first, firstUs = firstOf(keys)\n  end\n  return not first or client ~= '' and (first == client or firstUs - sinceUs > 0)\nend\nlocal function waitsUntil(keys, client, permits, forMs)\n  local untilMs = string.format('%.0f', serverTimeUs() / 1000 + forMs)\n  redis.call('HSET', keys.alive, client, untilMs .. ' ' .. permits)\nend\nlocal function waits(keys, client, sinceUs, permits, aliveMs)\n  redis.call('ZADD', keys.queue, string.format('%.0f', sinceUs), client)\n  waitsUntil(keys, client, permits, aliveMs)\n  redis.call('PEXPIRE', keys.queue, aliveMs * 2)\n  redis.call('PEXPIRE', keys.alive, aliveMs * 2)\nend\nlocal function waitsNoMore(keys, client)\n  if redis.call('HDEL', keys.alive, client) == 1 then\n    redis.call('ZREM', keys.queue, client)\n  end\nend\nlocal function wentOn(keys, client, isLast, forMs)\n  if isLast then\n    waitsNoMore(keys, client)\n  elseif redis.call('ZSCORE', keys.queue, client) then\n    waitsUntil(keys, client, 1, forMs)\n  end\nend\nlocal function tellNext(keys, publish, tickets, available, but)\n  if available <= 0 then\n    return\n  end\n  local client, _, permits = firstOf(keys)\n  if client and client ~= but and permits <= available then\n    redis.call(publish, tickets, client)\n  end\nend\nlocal function tellOthers(publish, channel, available)\n  redis.call(publish, channel, '0' .. math.max(available, 0))\nend\nlocal NO_SEMAPHORE = 'WRONGTYPE a value that is no number of permits has this name'\nlocal function availableIn(semaphore)\n  local text = redis.call('GET', semaphore)\n  if not text then\n    return 0, false\n  end\n  return tonumber(string.match(text, '^%-?%d+$')), true\nend\nlocal function forget(...)\n  if select('#', ...) > 0 then\n    redis.call('DEL', ...)\n  end\nend\nlocal permits = tonumber(string.match(owner, '%d+$'))\nlocal available = availableIn(keys.semaphore)\nif not available then\n  return redis.error_reply(NO_SEMAPHORE)\nend\nlocal taken = redis.call('GET', keys.request)\nforget(unpack(KEYS, 5))\nif taken == 'returned' then\n  return { 'held', -1, '' }\nelseif taken then\n  redis.call('PEXPIRE', keys.request, keptMs)\n  return { 'granted' }\nelseif isLate(notAfterUs) then\n  return { 'late', serverTimeText() }\nend\nlocal sinceUs = sinceOf(since, waitedMs)\nlocal wasFirst = client ~= '' and firstOf(keys) == client\nif available >= permits and isNext(keys, client, sinceUs) then\n  redis.call('DECRBY', keys.semaphore, permits)\n  redis.call('SET', keys.request, permits, 'PX', keptMs)\n  if client ~= '' then\n    wentOn(keys, client, last, waitingMs)\n  end\n  tellNext(keys, publish, tickets, available - permits, not last and client)\n  return { 'granted' }\nend\nif client == '' then\n  return { 'held', -1, '' }\nend\nwaits(keys, client, sinceUs, permits, waitingMs)\nlocal first, _, _, untilMs = firstOf(keys)\nif wasFirst and first ~= client then\n  tellNext(keys, publish, tickets, available)\nend\nlocal ttlMs = first ~= client and math.max(math.ceil(untilMs + 1 - serverTimeUs() / 1000), 0) or -1\nreturn { 'held', ttlMs, string.format('%.0f', sinceUs) }\n",
}

export interface AcquireArgs {
  readonly owner: string
  readonly client: string
  readonly last: boolean
  readonly waitingMs: number
  readonly since: string
  readonly waitedMs: number
  readonly tickets: string
  readonly keptMs: number
}

export function acquireArgs(given: AcquireArgs, terms: Pick<Terms, 'notAfterUs' | 'publish'>): Args {
  const args: Value[] = [given.owner, terms.notAfterUs, given.client, given.last ? 1 : '', given.waitingMs, given.since, given.waitedMs, given.tickets, terms.publish, given.keptMs]
  return args
}

export type AcquireReply = 
  | { readonly kind: 'granted' }
  | { readonly kind: 'held'; readonly ttlMs: number; readonly since: string }

export function readAcquire(reply: unknown): AcquireReply {
  const list = listOf(reply)
  switch (list[0]) {
    case 'granted':
      sized(list, 1)
      return { kind: 'granted' }
    case 'held':
      sized(list, 3)
      return { kind: 'held', ttlMs: whole(list[1], -1), since: list[2] === '' ? '' : digits(list[2]) }
    default:
      throw odd()
  }
}

export const giveBack: Script<'client' | 'keptMs' | 'channel' | 'tickets' | 'publish'> = {
  name: "semaphore/give-back",
  keys: ["semaphore","queue","alive","request","answered"],
  args: ["client","keptMs","channel","tickets","publish"],
  sha1: "451c288fba5f950375c24b6f467ae5254d9a6fc4",
  source: "local keys = { semaphore = KEYS[1], queue = KEYS[2], alive = KEYS[3], request = KEYS[4] }\nlocal client, keptMs, channel, tickets, publish = ARGV[1], tonumber(ARGV[2]), ARGV[3], ARGV[4], ARGV[5]\nlocal time, firstUs, firstText\nlocal function serverTimeUs()\n  if not firstUs then\n    time = redis.call('TIME')\n    firstUs = time[1] * 1000000 + time[2]\n  end\n  return firstUs\nend\nlocal function serverTimeText()\n  if not firstText then\n    serverTimeUs()\n    firstText = time[1] .. string.sub('00000' .. time[2], -6)\n  end\n  return firstText\nend\nlocal function sinceOf(toldUs, waitedMs)\n  local told = tonumber(toldUs)\n  if told and told <= serverTimeUs() then\n    return told\n  end\n  return math.floor(serverTimeUs() - waitedMs * 1000)\nend\nlocal MOST_AHEAD_MS = 10000\nlocal function markOf(keys, client, nowMs)\n  local untilMs, permits = string.match(redis.call('HGET', keys.alive, client) or '', '^(%d+) (%d+)$')\n  if untilMs and untilMs - nowMs >= 0 and untilMs - nowMs <= MOST_AHEAD_MS then\n    return untilMs, permits\n  end\nend\nlocal function listWaiting(keys, most)\n  local nowMs = serverTimeUs() / 1000\n  local found = most > 0 and redis.call('ZRANGE', keys.queue, 0, most - 1, 'WITHSCORES') or {}\n  local waiting, wanted = {}, {}\n  for i = 1, #found, 2 do\n    local _, permits = markOf(keys, found[i], nowMs)\n    if permits then\n      waiting[#waiting + 1] = found[i]\n      waiting[#waiting + 1] = found[i + 1]\n      wanted[#wanted + 1] = found[i]\n      wanted[#wanted + 1] = permits\n    end\n  end\n  return waiting, wanted\nend\nlocal function firstOf(keys)\n  local nowMs = serverTimeUs() / 1000\n  for _ = 1, 1000 do\n    local found = redis.call('ZRANGE', keys.queue, 0, 0, 'WITHSCORES')\n    local client = found[1]\n    if not client then\n      return nil\n    end\n    local untilMs, permits = markOf(keys, client, nowMs)\n    if untilMs then\n      return client, tonumber(found[2]), tonumber(permits), tonumber(untilMs)\n    end\n    redis.call('ZREM', keys.queue, client)\n    redis.call('HDEL', keys.alive, client)\n  end\nend\nlocal function isNext(keys, client, sinceUs)\n  local first, firstUs = firstOf(keys)\n  if first == client and firstUs - sinceUs < 0 then\n    redis.call('ZADD', keys.queue, string.format('%.0f', sinceUs), client)\n    first, firstUs = firstOf(keys)\n  end\n  return not first or client ~= '' and (first == client or firstUs - sinceUs > 0)\nend\nlocal function waitsUntil(keys, client, permits, forMs)\n  local untilMs = string.format('%.0f', serverTimeUs() / 1000 + forMs)\n  redis.call('HSET', keys.alive, client, untilMs .. ' ' .. permits)\nend\nlocal function waits(keys, client, sinceUs, permits, aliveMs)\n  redis.call('ZADD', keys.queue, string.format('%.0f', sinceUs), client)\n  waitsUntil(keys, client, permits, aliveMs)\n  redis.call('PEXPIRE', keys.queue, aliveMs * 2)\n  redis.call('PEXPIRE', keys.alive, aliveMs * 2)\nend\nlocal function waitsNoMore(keys, client)\n  if redis.call('HDEL', keys.alive, client) == 1 then\n    redis.call('ZREM', keys.queue, client)\n  end\nend\nlocal function wentOn(keys, client, isLast, forMs)\n  if isLast then\n    waitsNoMore(keys, client)\n  elseif redis.call('ZSCORE', keys.queue, client) then\n    waitsUntil(keys, client, 1, forMs)\n  end\nend\nlocal function tellNext(keys, publish, tickets, available, but)\n  if available <= 0 then\n    return\n  end\n  local client, _, permits = firstOf(keys)\n  if client and client ~= but and permits <= available then\n    redis.call(publish, tickets, client)\n  end\nend\nlocal function tellOthers(publish, channel, available)\n  redis.call(publish, channel, '0' .. math.max(available, 0))\nend\nlocal NO_SEMAPHORE = 'WRONGTYPE a value that is no number of permits has this name'\nlocal function availableIn(semaphore)\n  local text = redis.call('GET', semaphore)\n  if not text then\n    return 0, false\n  end\n  return tonumber(string.match(text, '^%-?%d+$')), true\nend\nlocal function forget(...)\n  if select('#', ...) > 0 then\n    redis.call('DEL', ...)\n  end\nend\nlocal available = availableIn(keys.semaphore)\nif not available then\n  return redis.error_reply(NO_SEMAPHORE)\nend\nlocal taken = tonumber(redis.call('GET', keys.request) or nil)\nforget(unpack(KEYS, 5))\nlocal wasFirst = client ~= '' and firstOf(keys) == client\nif client ~= '' then\n  waitsNoMore(keys, client)\nend\nif keptMs > 0 then\n  redis.call('SET', keys.request, 'returned', 'PX', keptMs)\nelseif taken then\n  redis.call('DEL', keys.request)\nend\nlocal isBack = taken and redis.call('EXISTS', keys.semaphore) == 1\nif isBack then\n  available = redis.call('INCRBY', keys.semaphore, taken)\n  tellOthers(publish, channel, available)\nend\nif isBack or wasFirst then\n  tellNext(keys, publish, tickets, available)\nend\nreturn isBack and 1 or 0\n",
}

export interface GiveBackArgs {
  readonly client: string
  readonly keptMs: number
  readonly tickets: string
}

export function giveBackArgs(given: GiveBackArgs, terms: Pick<Terms, 'publish'>, names: { readonly channel: string }): Args {
  const args: Value[] = [given.client, given.keptMs, names.channel, given.tickets, terms.publish]
  return args
}

export type GiveBackReply = boolean

export function readGiveBack(reply: unknown): GiveBackReply {
  return flag(reply)
}

export const inspect: Script<'most'> = {
  name: "semaphore/inspect",
  keys: ["semaphore","queue","alive"],
  args: ["most"],
  sha1: "3745add8eccb949859e598e62e534a78c73d275c",
  source: "local keys = { semaphore = KEYS[1], queue = KEYS[2], alive = KEYS[3] }\nlocal most = tonumber(ARGV[1])\nlocal time, firstUs, firstText\nlocal function serverTimeUs()\n  if not firstUs then\n    time = redis.call('TIME')\n    firstUs = time[1] * 1000000 + time[2]\n  end\n  return firstUs\nend\nlocal function serverTimeText()\n  if not firstText then\n    serverTimeUs()\n    firstText = time[1] .. string.sub('00000' .. time[2], -6)\n  end\n  return firstText\nend\nlocal function sinceOf(toldUs, waitedMs)\n  local told = tonumber(toldUs)\n  if told and told <= serverTimeUs() then\n    return told\n  end\n  return math.floor(serverTimeUs() - waitedMs * 1000)\nend\nlocal MOST_AHEAD_MS = 10000\nlocal function markOf(keys, client, nowMs)\n  local untilMs, permits = string.match(redis.call('HGET', keys.alive, client) or '', '^(%d+) (%d+)$')\n  if untilMs and untilMs - nowMs >= 0 and untilMs - nowMs <= MOST_AHEAD_MS then\n    return untilMs, permits\n  end\nend\nlocal function listWaiting(keys, most)\n  local nowMs = serverTimeUs() / 1000\n  local found = most > 0 and redis.call('ZRANGE', keys.queue, 0, most - 1, 'WITHSCORES') or {}\n  local waiting, wanted = {}, {}\n  for i = 1, #found, 2 do\n    local _, permits = markOf(keys, found[i], nowMs)\n    if permits then\n      waiting[#waiting + 1] = found[i]\n      waiting[#waiting + 1] = found[i + 1]\n      wanted[#wanted + 1] = found[i]\n      wanted[#wanted + 1] = permits\n    end\n  end\n  return waiting, wanted\nend\nlocal function firstOf(keys)\n  local nowMs = serverTimeUs() / 1000\n  for _ = 1, 1000 do\n    local found = redis.call('ZRANGE', keys.queue, 0, 0, 'WITHSCORES')\n    local client = found[1]\n    if not client then\n      return nil\n    end\n    local untilMs, permits = markOf(keys, client, nowMs)\n    if untilMs then\n      return client, tonumber(found[2]), tonumber(permits), tonumber(untilMs)\n    end\n    redis.call('ZREM', keys.queue, client)\n    redis.call('HDEL', keys.alive, client)\n  end\nend\nlocal function isNext(keys, client, sinceUs)\n  local first, firstUs = firstOf(keys)\n  if first == client and firstUs - sinceUs < 0 then\n    redis.call('ZADD', keys.queue, string.format('%.0f', sinceUs), client)\n    first, firstUs = firstOf(keys)\n  end\n  return not first or client ~= '' and (first == client or firstUs - sinceUs > 0)\nend\nlocal function waitsUntil(keys, client, permits, forMs)\n  local untilMs = string.format('%.0f', serverTimeUs() / 1000 + forMs)\n  redis.call('HSET', keys.alive, client, untilMs .. ' ' .. permits)\nend\nlocal function waits(keys, client, sinceUs, permits, aliveMs)\n  redis.call('ZADD', keys.queue, string.format('%.0f', sinceUs), client)\n  waitsUntil(keys, client, permits, aliveMs)\n  redis.call('PEXPIRE', keys.queue, aliveMs * 2)\n  redis.call('PEXPIRE', keys.alive, aliveMs * 2)\nend\nlocal function waitsNoMore(keys, client)\n  if redis.call('HDEL', keys.alive, client) == 1 then\n    redis.call('ZREM', keys.queue, client)\n  end\nend\nlocal function wentOn(keys, client, isLast, forMs)\n  if isLast then\n    waitsNoMore(keys, client)\n  elseif redis.call('ZSCORE', keys.queue, client) then\n    waitsUntil(keys, client, 1, forMs)\n  end\nend\nlocal function tellNext(keys, publish, tickets, available, but)\n  if available <= 0 then\n    return\n  end\n  local client, _, permits = firstOf(keys)\n  if client and client ~= but and permits <= available then\n    redis.call(publish, tickets, client)\n  end\nend\nlocal function tellOthers(publish, channel, available)\n  redis.call(publish, channel, '0' .. math.max(available, 0))\nend\nlocal NO_SEMAPHORE = 'WRONGTYPE a value that is no number of permits has this name'\nlocal function availableIn(semaphore)\n  local text = redis.call('GET', semaphore)\n  if not text then\n    return 0, false\n  end\n  return tonumber(string.match(text, '^%-?%d+$')), true\nend\nlocal available = availableIn(keys.semaphore)\nif not available then\n  return redis.error_reply(NO_SEMAPHORE)\nend\nlocal waiting, wanted = listWaiting(keys, most)\nreturn { available, serverTimeText(), waiting, wanted }\n",
}

export interface InspectArgs {
  readonly most: number
}

export function inspectArgs(given: InspectArgs): Args {
  const args: Value[] = [given.most]
  return args
}

export type InspectReply = { readonly available: number; readonly nowUs: number; readonly waiting: [string, string][]; readonly wanted: [string, string][] }

export function readInspect(reply: unknown): InspectReply {
  const parts = listOf(reply)
  sized(parts, 4)
  return { available: whole(parts[0], -9007199254740991), nowUs: whole(parts[1], 0), waiting: pairs(parts[2]), wanted: pairs(parts[3]) }
}

export const leave: Script<'client' | 'tickets' | 'publish'> = {
  name: "semaphore/leave",
  keys: ["semaphore","queue","alive"],
  args: ["client","tickets","publish"],
  sha1: "0d7037aacb19608873d82955ec42ebbfa26e2a2e",
  source: "local keys = { semaphore = KEYS[1], queue = KEYS[2], alive = KEYS[3] }\nlocal client, tickets, publish = ARGV[1], ARGV[2], ARGV[3]\nlocal time, firstUs, firstText\nlocal function serverTimeUs()\n  if not firstUs then\n    time = redis.call('TIME')\n    firstUs = time[1] * 1000000 + time[2]\n  end\n  return firstUs\nend\nlocal function serverTimeText()\n  if not firstText then\n    serverTimeUs()\n    firstText = time[1] .. string.sub('00000' .. time[2], -6)\n  end\n  return firstText\nend\nlocal function sinceOf(toldUs, waitedMs)\n  local told = tonumber(toldUs)\n  if told and told <= serverTimeUs() then\n    return told\n  end\n  return math.floor(serverTimeUs() - waitedMs * 1000)\nend\nlocal MOST_AHEAD_MS = 10000\nlocal function markOf(keys, client, nowMs)\n  local untilMs, permits = string.match(redis.call('HGET', keys.alive, client) or '', '^(%d+) (%d+)$')\n  if untilMs and untilMs - nowMs >= 0 and untilMs - nowMs <= MOST_AHEAD_MS then\n    return untilMs, permits\n  end\nend\nlocal function listWaiting(keys, most)\n  local nowMs = serverTimeUs() / 1000\n  local found = most > 0 and redis.call('ZRANGE', keys.queue, 0, most - 1, 'WITHSCORES') or {}\n  local waiting, wanted = {}, {}\n  for i = 1, #found, 2 do\n    local _, permits = markOf(keys, found[i], nowMs)\n    if permits then\n      waiting[#waiting + 1] = found[i]\n      waiting[#waiting + 1] = found[i + 1]\n      wanted[#wanted + 1] = found[i]\n      wanted[#wanted + 1] = permits\n    end\n  end\n  return waiting, wanted\nend\nlocal function firstOf(keys)\n  local nowMs = serverTimeUs() / 1000\n  for _ = 1, 1000 do\n    local found = redis.call('ZRANGE', keys.queue, 0, 0, 'WITHSCORES')\n    local client = found[1]\n    if not client then\n      return nil\n    end\n    local untilMs, permits = markOf(keys, client, nowMs)\n    if untilMs then\n      return client, tonumber(found[2]), tonumber(permits), tonumber(untilMs)\n    end\n    redis.call('ZREM', keys.queue, client)\n    redis.call('HDEL', keys.alive, client)\n  end\nend\nlocal function isNext(keys, client, sinceUs)\n  local first, firstUs = firstOf(keys)\n  if first == client and firstUs - sinceUs < 0 then\n    redis.call('ZADD', keys.queue, string.format('%.0f', sinceUs), client)\n    first, firstUs = firstOf(keys)\n  end\n  return not first or client ~= '' and (first == client or firstUs - sinceUs > 0)\nend\nlocal function waitsUntil(keys, client, permits, forMs)\n  local untilMs = string.format('%.0f', serverTimeUs() / 1000 + forMs)\n  redis.call('HSET', keys.alive, client, untilMs .. ' ' .. permits)\nend\nlocal function waits(keys, client, sinceUs, permits, aliveMs)\n  redis.call('ZADD', keys.queue, string.format('%.0f', sinceUs), client)\n  waitsUntil(keys, client, permits, aliveMs)\n  redis.call('PEXPIRE', keys.queue, aliveMs * 2)\n  redis.call('PEXPIRE', keys.alive, aliveMs * 2)\nend\nlocal function waitsNoMore(keys, client)\n  if redis.call('HDEL', keys.alive, client) == 1 then\n    redis.call('ZREM', keys.queue, client)\n  end\nend\nlocal function wentOn(keys, client, isLast, forMs)\n  if isLast then\n    waitsNoMore(keys, client)\n  elseif redis.call('ZSCORE', keys.queue, client) then\n    waitsUntil(keys, client, 1, forMs)\n  end\nend\nlocal function tellNext(keys, publish, tickets, available, but)\n  if available <= 0 then\n    return\n  end\n  local client, _, permits = firstOf(keys)\n  if client and client ~= but and permits <= available then\n    redis.call(publish, tickets, client)\n  end\nend\nlocal function tellOthers(publish, channel, available)\n  redis.call(publish, channel, '0' .. math.max(available, 0))\nend\nlocal NO_SEMAPHORE = 'WRONGTYPE a value that is no number of permits has this name'\nlocal function availableIn(semaphore)\n  local text = redis.call('GET', semaphore)\n  if not text then\n    return 0, false\n  end\n  return tonumber(string.match(text, '^%-?%d+$')), true\nend\nlocal available = availableIn(keys.semaphore)\nif not available then\n  return redis.error_reply(NO_SEMAPHORE)\nend\nlocal wasFirst = firstOf(keys) == client\nwaitsNoMore(keys, client)\nif wasFirst then\n  tellNext(keys, publish, tickets, available)\nend\nreturn wasFirst and 1 or 0\n",
}

export interface LeaveArgs {
  readonly client: string
  readonly tickets: string
}

export function leaveArgs(given: LeaveArgs, terms: Pick<Terms, 'publish'>): Args {
  const args: Value[] = [given.client, given.tickets, terms.publish]
  return args
}

export type LeaveReply = boolean

export function readLeave(reply: unknown): LeaveReply {
  return flag(reply)
}

export const release: Script<'permits' | 'ifExists' | 'keptMs' | 'notAfterUs' | 'channel' | 'tickets' | 'publish'> = {
  name: "semaphore/release",
  keys: ["semaphore","queue","alive","request","answered"],
  args: ["permits","ifExists","keptMs","notAfterUs","channel","tickets","publish"],
  sha1: "8faefecd8c5dd5c2b996b4479b816e81b66e34e6",
  source: "local keys = { semaphore = KEYS[1], queue = KEYS[2], alive = KEYS[3], request = KEYS[4] }\nlocal permits, ifExists, keptMs, notAfterUs = ARGV[1], ARGV[2] == '1', ARGV[3], tonumber(ARGV[4])\nlocal channel, tickets, publish = ARGV[5], ARGV[6], ARGV[7]\nlocal time, firstUs, firstText\nlocal function serverTimeUs()\n  if not firstUs then\n    time = redis.call('TIME')\n    firstUs = time[1] * 1000000 + time[2]\n  end\n  return firstUs\nend\nlocal function serverTimeText()\n  if not firstText then\n    serverTimeUs()\n    firstText = time[1] .. string.sub('00000' .. time[2], -6)\n  end\n  return firstText\nend\nlocal function isLate(notAfterUs)\n  if notAfterUs <= 0 then\n    return false\n  end\n  local aheadUs, mostUs = notAfterUs - serverTimeUs(), notAfterUs % 1000 * 100000\n  return aheadUs < 0 or mostUs > 0 and aheadUs > mostUs\nend\nlocal function sinceOf(toldUs, waitedMs)\n  local told = tonumber(toldUs)\n  if told and told <= serverTimeUs() then\n    return told\n  end\n  return math.floor(serverTimeUs() - waitedMs * 1000)\nend\nlocal MOST_AHEAD_MS = 10000\nlocal function markOf(keys, client, nowMs)\n  local untilMs, permits = string.match(redis.call('HGET', keys.alive, client) or '', '^(%d+) (%d+)$')\n  if untilMs and untilMs - nowMs >= 0 and untilMs - nowMs <= MOST_AHEAD_MS then\n    return untilMs, permits\n  end\nend\nlocal function listWaiting(keys, most)\n  local nowMs = serverTimeUs() / 1000\n  local found = most > 0 and redis.call('ZRANGE', keys.queue, 0, most - 1, 'WITHSCORES') or {}\n  local waiting, wanted = {}, {}\n  for i = 1, #found, 2 do\n    local _, permits = markOf(keys, found[i], nowMs)\n    if permits then\n      waiting[#waiting + 1] = found[i]\n      waiting[#waiting + 1] = found[i + 1]\n      wanted[#wanted + 1] = found[i]\n      wanted[#wanted + 1] = permits\n    end\n  end\n  return waiting, wanted\nend\nlocal function firstOf(keys)\n  local nowMs = serverTimeUs() / 1000\n  for _ = 1, 1000 do\n    local found = redis.call('ZRANGE', keys.queue, 0, 0, 'WITHSCORES')\n    local client = found[1]\n    if not client then\n      return nil\n    end\n    local untilMs, permits = markOf(keys, client, nowMs)\n    if untilMs then\n      return client, tonumber(found[2]), tonumber(permits), tonumber(untilMs)\n    end\n    redis.call('ZREM', keys.queue, client)\n    redis.call('HDEL', keys.alive, client)\n  end\nend\nlocal function isNext(keys, client, sinceUs)\n  local first, firstUs = firstOf(keys)\n  if first == client and firstUs - sinceUs < 0 then\n    redis.call('ZADD', keys.queue, string.format('%.0f', sinceUs), client)\n    first, firstUs = firstOf(keys)\n  end\n  return not first or client ~= '' and (first == client or firstUs - sinceUs > 0)\nend\nlocal function waitsUntil(keys, client, permits, forMs)\n  local untilMs = string.format('%.0f', serverTimeUs() / 1000 + forMs)\n  redis.call('HSET', keys.alive, client, untilMs .. ' ' .. permits)\nend\nlocal function waits(keys, client, sinceUs, permits, aliveMs)\n  redis.call('ZADD', keys.queue, string.format('%.0f', sinceUs), client)\n  waitsUntil(keys, client, permits, aliveMs)\n  redis.call('PEXPIRE', keys.queue, aliveMs * 2)\n  redis.call('PEXPIRE', keys.alive, aliveMs * 2)\nend\nlocal function waitsNoMore(keys, client)\n  if redis.call('HDEL', keys.alive, client) == 1 then\n    redis.call('ZREM', keys.queue, client)\n  end\nend\nlocal function wentOn(keys, client, isLast, forMs)\n  if isLast then\n    waitsNoMore(keys, client)\n  elseif redis.call('ZSCORE', keys.queue, client) then\n    waitsUntil(keys, client, 1, forMs)\n  end\nend\nlocal function tellNext(keys, publish, tickets, available, but)\n  if available <= 0 then\n    return\n  end\n  local client, _, permits = firstOf(keys)\n  if client and client ~= but and permits <= available then\n    redis.call(publish, tickets, client)\n  end\nend\nlocal function tellOthers(publish, channel, available)\n  redis.call(publish, channel, '0' .. math.max(available, 0))\nend\nlocal NO_SEMAPHORE = 'WRONGTYPE a value that is no number of permits has this name'\nlocal function availableIn(semaphore)\n  local text = redis.call('GET', semaphore)\n  if not text then\n    return 0, false\n  end\n  return tonumber(string.match(text, '^%-?%d+$')), true\nend\nlocal function forget(...)\n  if select('#', ...) > 0 then\n    redis.call('DEL', ...)\n  end\nend\nif not availableIn(keys.semaphore) then\n  return redis.error_reply(NO_SEMAPHORE)\nend\nlocal done = redis.call('GET', keys.request)\nforget(unpack(KEYS, 5))\nif done then\n  redis.call('PEXPIRE', keys.request, keptMs)\n  return { done == '0' and 'none' or 'added' }\nelseif isLate(notAfterUs) then\n  return { 'late', serverTimeText() }\nelseif ifExists and redis.call('EXISTS', keys.semaphore) == 0 then\n  redis.call('SET', keys.request, '0', 'PX', keptMs)\n  return { 'none' }\nend\nlocal available = redis.call('INCRBY', keys.semaphore, permits)\nredis.call('SET', keys.request, '1', 'PX', keptMs)\ntellOthers(publish, channel, available)\ntellNext(keys, publish, tickets, available)\nreturn { 'added' }\n",
}

export interface ReleaseArgs {
  readonly permits: number
  readonly ifExists: boolean
  readonly keptMs: number
  readonly tickets: string
}

export function releaseArgs(given: ReleaseArgs, terms: Pick<Terms, 'notAfterUs' | 'publish'>, names: { readonly channel: string }): Args {
  const args: Value[] = [given.permits, given.ifExists ? 1 : '', given.keptMs, terms.notAfterUs, names.channel, given.tickets, terms.publish]
  return args
}

export type ReleaseReply = 
  | { readonly kind: 'added' }
  | { readonly kind: 'none' }

export function readRelease(reply: unknown): ReleaseReply {
  const list = listOf(reply)
  switch (list[0]) {
    case 'added':
      sized(list, 1)
      return { kind: 'added' }
    case 'none':
      sized(list, 1)
      return { kind: 'none' }
    default:
      throw odd()
  }
}

export const set: Script<'what' | 'permits' | 'ttlMs' | 'keptMs' | 'notAfterUs' | 'channel' | 'tickets' | 'publish'> = {
  name: "semaphore/set",
  keys: ["semaphore","queue","alive","request","answered"],
  args: ["what","permits","ttlMs","keptMs","notAfterUs","channel","tickets","publish"],
  sha1: "b27d1bcee1d66d098862a595e0920a7272f6c5b1",
  source: "local keys = { semaphore = KEYS[1], queue = KEYS[2], alive = KEYS[3], request = KEYS[4] }\nlocal what, permits, ttlMs, keptMs = ARGV[1], tonumber(ARGV[2]), tonumber(ARGV[3]), ARGV[4]\nlocal notAfterUs, channel, tickets, publish = tonumber(ARGV[5]), ARGV[6], ARGV[7], ARGV[8]\nlocal time, firstUs, firstText\nlocal function serverTimeUs()\n  if not firstUs then\n    time = redis.call('TIME')\n    firstUs = time[1] * 1000000 + time[2]\n  end\n  return firstUs\nend\nlocal function serverTimeText()\n  if not firstText then\n    serverTimeUs()\n    firstText = time[1] .. string.sub('00000' .. time[2], -6)\n  end\n  return firstText\nend\nlocal function isLate(notAfterUs)\n  if notAfterUs <= 0 then\n    return false\n  end\n  local aheadUs, mostUs = notAfterUs - serverTimeUs(), notAfterUs % 1000 * 100000\n  return aheadUs < 0 or mostUs > 0 and aheadUs > mostUs\nend\nlocal function sinceOf(toldUs, waitedMs)\n  local told = tonumber(toldUs)\n  if told and told <= serverTimeUs() then\n    return told\n  end\n  return math.floor(serverTimeUs() - waitedMs * 1000)\nend\nlocal MOST_AHEAD_MS = 10000\nlocal function markOf(keys, client, nowMs)\n  local untilMs, permits = string.match(redis.call('HGET', keys.alive, client) or '', '^(%d+) (%d+)$')\n  if untilMs and untilMs - nowMs >= 0 and untilMs - nowMs <= MOST_AHEAD_MS then\n    return untilMs, permits\n  end\nend\nlocal function listWaiting(keys, most)\n  local nowMs = serverTimeUs() / 1000\n  local found = most > 0 and redis.call('ZRANGE', keys.queue, 0, most - 1, 'WITHSCORES') or {}\n  local waiting, wanted = {}, {}\n  for i = 1, #found, 2 do\n    local _, permits = markOf(keys, found[i], nowMs)\n    if permits then\n      waiting[#waiting + 1] = found[i]\n      waiting[#waiting + 1] = found[i + 1]\n      wanted[#wanted + 1] = found[i]\n      wanted[#wanted + 1] = permits\n    end\n  end\n  return waiting, wanted\nend\nlocal function firstOf(keys)\n  local nowMs = serverTimeUs() / 1000\n  for _ = 1, 1000 do\n    local found = redis.call('ZRANGE', keys.queue, 0, 0, 'WITHSCORES')\n    local client = found[1]\n    if not client then\n      return nil\n    end\n    local untilMs, permits = markOf(keys, client, nowMs)\n    if untilMs then\n      return client, tonumber(found[2]), tonumber(permits), tonumber(untilMs)\n    end\n    redis.call('ZREM', keys.queue, client)\n    redis.call('HDEL', keys.alive, client)\n  end\nend\nlocal function isNext(keys, client, sinceUs)\n  local first, firstUs = firstOf(keys)\n  if first == client and firstUs - sinceUs < 0 then\n    redis.call('ZADD', keys.queue, string.format('%.0f', sinceUs), client)\n    first, firstUs = firstOf(keys)\n  end\n  return not first or client ~= '' and (first == client or firstUs - sinceUs > 0)\nend\nlocal function waitsUntil(keys, client, permits, forMs)\n  local untilMs = string.format('%.0f', serverTimeUs() / 1000 + forMs)\n  redis.call('HSET', keys.alive, client, untilMs .. ' ' .. permits)\nend\nlocal function waits(keys, client, sinceUs, permits, aliveMs)\n  redis.call('ZADD', keys.queue, string.format('%.0f', sinceUs), client)\n  waitsUntil(keys, client, permits, aliveMs)\n  redis.call('PEXPIRE', keys.queue, aliveMs * 2)\n  redis.call('PEXPIRE', keys.alive, aliveMs * 2)\nend\nlocal function waitsNoMore(keys, client)\n  if redis.call('HDEL', keys.alive, client) == 1 then\n    redis.call('ZREM', keys.queue, client)\n  end\nend\nlocal function wentOn(keys, client, isLast, forMs)\n  if isLast then\n    waitsNoMore(keys, client)\n  elseif redis.call('ZSCORE', keys.queue, client) then\n    waitsUntil(keys, client, 1, forMs)\n  end\nend\nlocal function tellNext(keys, publish, tickets, available, but)\n  if available <= 0 then\n    return\n  end\n  local client, _, permits = firstOf(keys)\n  if client and client ~= but and permits <= available then\n    redis.call(publish, tickets, client)\n  end\nend\nlocal function tellOthers(publish, channel, available)\n  redis.call(publish, channel, '0' .. math.max(available, 0))\nend\nlocal NO_SEMAPHORE = 'WRONGTYPE a value that is no number of permits has this name'\nlocal function availableIn(semaphore)\n  local text = redis.call('GET', semaphore)\n  if not text then\n    return 0, false\n  end\n  return tonumber(string.match(text, '^%-?%d+$')), true\nend\nlocal function forget(...)\n  if select('#', ...) > 0 then\n    redis.call('DEL', ...)\n  end\nend\nlocal available = availableIn(keys.semaphore)\nif not available then\n  return redis.error_reply(NO_SEMAPHORE)\nend\nlocal result = tonumber(redis.call('GET', keys.request) or nil)\nforget(unpack(KEYS, 5))\nif result then\n  redis.call('PEXPIRE', keys.request, keptMs)\n  return { 'done', result }\nelseif isLate(notAfterUs) then\n  return { 'late', serverTimeText() }\nend\nlocal more = 0\nif what == 'set' then\n  result = redis.call('EXISTS', keys.semaphore) == 0 and 1 or 0\n  if result == 1 then\n    more = permits\n    redis.call('SET', keys.semaphore, permits)\n    if ttlMs > 0 then\n      redis.call('PEXPIRE', keys.semaphore, ttlMs)\n    end\n  end\nelseif what == 'add' then\n  more = permits\n  result = redis.call('INCRBY', keys.semaphore, permits)\nelse\n  result = math.max(available, 0)\n  if result > 0 then\n    redis.call('DECRBY', keys.semaphore, result)\n  end\nend\nredis.call('SET', keys.request, result, 'PX', keptMs)\nif more > 0 then\n  tellOthers(publish, channel, available + more)\n  tellNext(keys, publish, tickets, available + more)\nend\nreturn { 'done', result }\n",
}

export interface SetArgs {
  readonly what: 'set' | 'add' | 'drain'
  readonly permits: number
  readonly ttlMs: number
  readonly keptMs: number
  readonly tickets: string
}

export function setArgs(given: SetArgs, terms: Pick<Terms, 'notAfterUs' | 'publish'>, names: { readonly channel: string }): Args {
  const args: Value[] = [given.what, given.permits, given.ttlMs, given.keptMs, terms.notAfterUs, names.channel, given.tickets, terms.publish]
  return args
}

export type SetReply = 
  | { readonly kind: 'done'; readonly result: number }

export function readSet(reply: unknown): SetReply {
  const list = listOf(reply)
  switch (list[0]) {
    case 'done':
      sized(list, 2)
      return { kind: 'done', result: whole(list[1], -9007199254740991) }
    default:
      throw odd()
  }
}
