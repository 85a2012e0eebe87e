// Generated from the headers of lua/ by `npm run lua`. Do not edit.
import { digits, flag, listOf, odd, sized, whole } from './reading.ts'
import type { Binding, NoArgs } from './script.ts'

export interface AcquireArgs {
  readonly id: string
  readonly permits: number
  readonly perMs: number
  readonly cost: number
  readonly mostMs: number | ''
  readonly again: boolean
}

export type AcquireReply = 
  | { readonly kind: 'granted'; readonly waitUs: number; readonly atUs: number }
  | { readonly kind: 'refused'; readonly waitUs: number }

export const acquire: Binding<{ readonly log: string; readonly state: string }, AcquireArgs, AcquireReply> = {
  script: {
    name: "rate/acquire",
    keys: ["log","state"],
    args: ["id","permits","perMs","cost","mostMs","again","notAfterUs"],
    sha1: "adc395f48b7e4dff587da9eba83e094e4b0f8bd7",
    source: "local MOST_AT_ONCE = 100\nlocal log, state = KEYS[1], KEYS[2]\nlocal id, permits, perMs, cost = ARGV[1], tonumber(ARGV[2]), tonumber(ARGV[3]), tonumber(ARGV[4])\nlocal mostMs, again, notAfterUs = tonumber(ARGV[5]), ARGV[6] == '1', tonumber(ARGV[7])\nlocal time, firstUs, firstText\nlocal function serverTimeUs()\n  if not firstUs then\n    time = redis.call('TIME')\n    firstUs = time[1] * 1000000 + time[2]\n  end\n  return firstUs\nend\nlocal function serverTimeText()\n  if not firstText then\n    serverTimeUs()\n    firstText = time[1] .. string.sub('00000' .. time[2], -6)\n  end\n  return firstText\nend\nlocal function isLate(notAfterUs)\n  if notAfterUs <= 0 then\n    return false\n  end\n  local aheadUs, mostUs = notAfterUs - serverTimeUs(), notAfterUs % 1000 * 100000\n  return aheadUs < 0 or mostUs > 0 and aheadUs > mostUs\nend\nlocal function readRate(state)\n  local names = { 'used', 'skipped', 'lastUs', 'floorUs', 'goneUs', 'keptMs', 'keptUs', 'seenUs', 'skewUs' }\n  local rate = {}\n  for i, text in ipairs(redis.call('HMGET', state, unpack(names))) do\n    rate[names[i]] = tonumber(text or 0)\n  end\n  rate.nowUs = serverTimeUs() + rate.skewUs\n  if rate.nowUs < rate.seenUs then\n    rate.skewUs = rate.skewUs + rate.seenUs - rate.nowUs\n    rate.nowUs = rate.seenUs\n  end\n  return rate\nend\nlocal function digits(number)\n  return string.format('%.0f', number)\nend\nlocal function readGrant(entry)\n  local atUs, cost, id = string.match(entry, '^(%d+) (%d+) (.*)$')\n  return tonumber(atUs), tonumber(cost), id\nend\nlocal function eachGrant(log, from, visit)\n  local step, size = from < 0 and -1 or 1, 8\n  while true do\n    local to = from + step * (size - 1)\n    local entries = redis.call('LRANGE', log, math.min(from, to), math.max(from, to))\n    for i = 1, #entries do\n      if visit(readGrant(entries[step > 0 and i or #entries + 1 - i])) then\n        return\n      end\n    end\n    if #entries < size then\n      return\n    end\n    from, size = from + step * size, 1000\n  end\nend\nlocal rate = readRate(state)\nif again then\n  local foundUs\n  eachGrant(log, -1, function(grantedUs, _, other)\n    foundUs = other == id and grantedUs\n    return foundUs\n  end)\n  if foundUs then\n    return { 'granted', digits(math.max(0, foundUs - rate.nowUs)), digits(foundUs) }\n  end\nend\nif isLate(notAfterUs) then\n  return { 'late', serverTimeText() }\nend\nlocal atUs = math.max(rate.nowUs, rate.lastUs)\nif perMs > rate.keptMs or atUs - rate.keptUs >= rate.keptMs * 1000 then\n  for _, field in ipairs({ 'floorUs', 'goneUs' }) do\n    if rate[field] > 0 then\n      rate[field] = math.max(0, rate[field] + (perMs - rate.keptMs) * 1000)\n    end\n  end\n  rate.keptMs = perMs\n  atUs = math.max(atUs, rate.floorUs)\nend\nlocal used, skipped, floorUs = rate.used, rate.skipped, rate.floorUs\nlocal left = used\nlocal function skipIfOver(grantedUs, granted)\n  local untilUs = grantedUs + rate.keptMs * 1000\n  if untilUs > atUs then\n    return false\n  end\n  skipped, used, floorUs = skipped + 1, used - granted, untilUs\n  return true\nend\nif perMs < rate.keptMs then\n  local own = {}\n  left = 0\n  eachGrant(log, -1, function(grantedUs, granted)\n    if grantedUs + perMs * 1000 <= atUs then\n      return true\n    end\n    own[#own + 1], left = { grantedUs, granted }, left + granted\n  end)\n  while left + cost > permits do\n    local oldest = table.remove(own)\n    atUs, left = math.max(atUs, oldest[1] + perMs * 1000), left - oldest[2]\n  end\n  local visited = 0\n  eachGrant(log, skipped, function(grantedUs, granted)\n    visited = visited + 1\n    return visited > MOST_AT_ONCE or not skipIfOver(grantedUs, granted)\n  end)\nelseif used + cost > permits then\n  eachGrant(log, skipped, function(grantedUs, granted)\n    atUs = math.max(atUs, grantedUs + perMs * 1000)\n    left = left - granted\n    skipIfOver(grantedUs, granted)\n    return left + cost <= permits\n  end)\nend\nlocal waitUs = atUs - rate.nowUs\nif mostMs and waitUs > mostMs * 1000 then\n  redis.call('HSET', state, 'seenUs', digits(rate.nowUs), 'skewUs', digits(rate.skewUs))\n  if redis.call('PTTL', state) < 0 then\n    redis.call('PEXPIRE', state, perMs)\n  end\n  return { 'refused', digits(waitUs) }\nend\nlocal deleted = 0\nif skipped > 0 then\n  eachGrant(log, 0, function(grantedUs)\n    if deleted == skipped or deleted == MOST_AT_ONCE or grantedUs + rate.keptMs * 1000 > rate.nowUs then\n      return true\n    end\n    deleted, rate.goneUs = deleted + 1, grantedUs + rate.keptMs * 1000\n  end)\nend\nif deleted > 0 then\n  redis.call('LTRIM', log, deleted, -1)\nend\nlocal at = digits(atUs)\nredis.call('RPUSH', log, at .. ' ' .. cost .. ' ' .. id)\nlocal keptUs = perMs == rate.keptMs and at or digits(rate.keptUs)\nredis.call('HSET', state, 'used', used + cost, 'skipped', skipped - deleted, 'lastUs', at, 'floorUs', digits(floorUs),\n  'goneUs', digits(rate.goneUs), 'permits', permits, 'perMs', perMs, 'keptMs', rate.keptMs, 'keptUs', keptUs,\n  'seenUs', digits(rate.nowUs), 'skewUs', digits(rate.skewUs))\nlocal keptMs = digits(math.max(redis.call('PTTL', state), math.ceil(waitUs / 1000) + rate.keptMs + 1))\nredis.call('PEXPIRE', log, keptMs)\nredis.call('PEXPIRE', state, keptMs)\nreturn { 'granted', digits(waitUs), at }\n",
  },
  keysOf: (names) => [names.log, names.state],
  argsOf: (given, terms) => [given.id, given.permits, given.perMs, given.cost, given.mostMs, given.again ? 1 : '', terms.notAfterUs],
  read: (reply) => {
    const list = listOf(reply)
    switch (list[0]) {
      case 'granted':
        sized(list, 3)
        return { kind: 'granted', waitUs: whole(list[1], 0), atUs: whole(list[2], 1) }
      case 'refused':
        sized(list, 2)
        return { kind: 'refused', waitUs: whole(list[1], 0) }
      default:
        throw odd()
    }
  },
}

export interface GiveBackArgs {
  readonly id: string
  readonly atUs: number
  readonly cost: number
}

export type GiveBackReply = boolean

export const giveBack: Binding<{ readonly log: string; readonly state: string }, GiveBackArgs, GiveBackReply> = {
  script: {
    name: "rate/give-back",
    keys: ["log","state"],
    args: ["id","atUs","cost"],
    sha1: "341af7d253c5febaba6dcee40404bad9f41fe863",
    source: "local log, state, id, atUs, cost = KEYS[1], KEYS[2], ARGV[1], ARGV[2], ARGV[3]\nlocal time, firstUs, firstText\nlocal function serverTimeUs()\n  if not firstUs then\n    time = redis.call('TIME')\n    firstUs = time[1] * 1000000 + time[2]\n  end\n  return firstUs\nend\nlocal function serverTimeText()\n  if not firstText then\n    serverTimeUs()\n    firstText = time[1] .. string.sub('00000' .. time[2], -6)\n  end\n  return firstText\nend\nlocal function readRate(state)\n  local names = { 'used', 'skipped', 'lastUs', 'floorUs', 'goneUs', 'keptMs', 'keptUs', 'seenUs', 'skewUs' }\n  local rate = {}\n  for i, text in ipairs(redis.call('HMGET', state, unpack(names))) do\n    rate[names[i]] = tonumber(text or 0)\n  end\n  rate.nowUs = serverTimeUs() + rate.skewUs\n  if rate.nowUs < rate.seenUs then\n    rate.skewUs = rate.skewUs + rate.seenUs - rate.nowUs\n    rate.nowUs = rate.seenUs\n  end\n  return rate\nend\nlocal function digits(number)\n  return string.format('%.0f', number)\nend\nlocal function readGrant(entry)\n  local atUs, cost, id = string.match(entry, '^(%d+) (%d+) (.*)$')\n  return tonumber(atUs), tonumber(cost), id\nend\nlocal function eachGrant(log, from, visit)\n  local step, size = from < 0 and -1 or 1, 8\n  while true do\n    local to = from + step * (size - 1)\n    local entries = redis.call('LRANGE', log, math.min(from, to), math.max(from, to))\n    for i = 1, #entries do\n      if visit(readGrant(entries[step > 0 and i or #entries + 1 - i])) then\n        return\n      end\n    end\n    if #entries < size then\n      return\n    end\n    from, size = from + step * size, 1000\n  end\nend\nlocal rate = readRate(state)\nlocal entry = atUs .. ' ' .. cost .. ' ' .. id\nlocal index = redis.call('LPOS', log, entry, 'RANK', -1)\nif not index or tonumber(atUs) <= rate.nowUs then\n  return 0\nend\nredis.call('LREM', log, -1, entry)\nlocal used, skipped = rate.used, rate.skipped\nif index < skipped then\n  skipped = skipped - 1\nelse\n  used = used - cost\nend\nlocal last = redis.call('LINDEX', log, -1)\nlocal fromUs = math.max(last and readGrant(last) or 0, rate.nowUs)\nlocal floorUs = rate.goneUs\nwhile skipped > 0 do\n  local grantedUs, granted = readGrant(redis.call('LINDEX', log, skipped - 1))\n  if grantedUs + rate.keptMs * 1000 <= fromUs then\n    floorUs = grantedUs + rate.keptMs * 1000\n    break\n  end\n  skipped, used = skipped - 1, used + granted\nend\nredis.call('HSET', state, 'used', used, 'skipped', skipped, 'floorUs', digits(floorUs), 'lastUs',\n  digits(math.max(last and readGrant(last) or 0, floorUs)))\nreturn 1\n",
  },
  keysOf: (names) => [names.log, names.state],
  argsOf: (given) => [given.id, given.atUs, given.cost],
  read: (reply) => flag(reply),
}

export type InspectReply = { readonly permits: number | null; readonly perMs: number | null; readonly used: number; readonly waiting: number; readonly waitUs: number }

export const inspect: Binding<{ readonly log: string; readonly state: string }, NoArgs, InspectReply> = {
  script: {
    name: "rate/inspect",
    keys: ["log","state"],
    args: [],
    sha1: "6bd9c11d0b282b7f73ac5e99298992def880b3d6",
    source: "local log, state = KEYS[1], KEYS[2]\nlocal time, firstUs, firstText\nlocal function serverTimeUs()\n  if not firstUs then\n    time = redis.call('TIME')\n    firstUs = time[1] * 1000000 + time[2]\n  end\n  return firstUs\nend\nlocal function serverTimeText()\n  if not firstText then\n    serverTimeUs()\n    firstText = time[1] .. string.sub('00000' .. time[2], -6)\n  end\n  return firstText\nend\nlocal function readRate(state)\n  local names = { 'used', 'skipped', 'lastUs', 'floorUs', 'goneUs', 'keptMs', 'keptUs', 'seenUs', 'skewUs' }\n  local rate = {}\n  for i, text in ipairs(redis.call('HMGET', state, unpack(names))) do\n    rate[names[i]] = tonumber(text or 0)\n  end\n  rate.nowUs = serverTimeUs() + rate.skewUs\n  if rate.nowUs < rate.seenUs then\n    rate.skewUs = rate.skewUs + rate.seenUs - rate.nowUs\n    rate.nowUs = rate.seenUs\n  end\n  return rate\nend\nlocal function digits(number)\n  return string.format('%.0f', number)\nend\nlocal function readGrant(entry)\n  local atUs, cost, id = string.match(entry, '^(%d+) (%d+) (.*)$')\n  return tonumber(atUs), tonumber(cost), id\nend\nlocal function eachGrant(log, from, visit)\n  local step, size = from < 0 and -1 or 1, 8\n  while true do\n    local to = from + step * (size - 1)\n    local entries = redis.call('LRANGE', log, math.min(from, to), math.max(from, to))\n    for i = 1, #entries do\n      if visit(readGrant(entries[step > 0 and i or #entries + 1 - i])) then\n        return\n      end\n    end\n    if #entries < size then\n      return\n    end\n    from, size = from + step * size, 1000\n  end\nend\nredis.call('LLEN', log)\nlocal permits, perMs = unpack(redis.call('HMGET', state, 'permits', 'perMs'))\nif not permits or not perMs then\n  return { '', '', 0, 0, 0 }\nend\nlocal rate = readRate(state)\nlocal used, waiting, visited, left, atUs = 0, 0, 0, rate.used, math.max(rate.nowUs, rate.lastUs)\neachGrant(log, 0, function(grantedUs, cost)\n  if grantedUs > rate.nowUs then\n    waiting = waiting + 1\n  elseif grantedUs + perMs * 1000 > rate.nowUs then\n    used = used + cost\n  end\n  visited = visited + 1\n  if visited > rate.skipped and left + 1 > tonumber(permits) then\n    left, atUs = left - cost, math.max(atUs, grantedUs + perMs * 1000)\n  end\nend)\nreturn { permits, perMs, used, waiting, digits(atUs - rate.nowUs) }\n",
  },
  keysOf: (names) => [names.log, names.state],
  argsOf: () => [],
  read: (reply) => {
    const parts = listOf(reply)
    sized(parts, 5)
    return { permits: parts[0] === '' ? null : whole(parts[0], 0), perMs: parts[1] === '' ? null : whole(parts[1], 0), used: whole(parts[2], 0), waiting: whole(parts[3], 0), waitUs: whole(parts[4], 0) }
  },
}

export type ResetReply = boolean

export const reset: Binding<{ readonly log: string; readonly state: string }, NoArgs, ResetReply> = {
  script: {
    name: "rate/reset",
    keys: ["log","state"],
    args: [],
    sha1: "c6a0c4023da5a76cde5f3b900b548d0f6aeb6ac5",
    source: "local log, state = KEYS[1], KEYS[2]\nlocal time, firstUs, firstText\nlocal function serverTimeUs()\n  if not firstUs then\n    time = redis.call('TIME')\n    firstUs = time[1] * 1000000 + time[2]\n  end\n  return firstUs\nend\nlocal function serverTimeText()\n  if not firstText then\n    serverTimeUs()\n    firstText = time[1] .. string.sub('00000' .. time[2], -6)\n  end\n  return firstText\nend\nlocal function readRate(state)\n  local names = { 'used', 'skipped', 'lastUs', 'floorUs', 'goneUs', 'keptMs', 'keptUs', 'seenUs', 'skewUs' }\n  local rate = {}\n  for i, text in ipairs(redis.call('HMGET', state, unpack(names))) do\n    rate[names[i]] = tonumber(text or 0)\n  end\n  rate.nowUs = serverTimeUs() + rate.skewUs\n  if rate.nowUs < rate.seenUs then\n    rate.skewUs = rate.skewUs + rate.seenUs - rate.nowUs\n    rate.nowUs = rate.seenUs\n  end\n  return rate\nend\nlocal function digits(number)\n  return string.format('%.0f', number)\nend\nlocal function readGrant(entry)\n  local atUs, cost, id = string.match(entry, '^(%d+) (%d+) (.*)$')\n  return tonumber(atUs), tonumber(cost), id\nend\nlocal function eachGrant(log, from, visit)\n  local step, size = from < 0 and -1 or 1, 8\n  while true do\n    local to = from + step * (size - 1)\n    local entries = redis.call('LRANGE', log, math.min(from, to), math.max(from, to))\n    for i = 1, #entries do\n      if visit(readGrant(entries[step > 0 and i or #entries + 1 - i])) then\n        return\n      end\n    end\n    if #entries < size then\n      return\n    end\n    from, size = from + step * size, 1000\n  end\nend\nlocal all = redis.call('LLEN', log)\nlocal rate = readRate(state)\nlocal deleted, left, visited = 0, 0, 0\neachGrant(log, 0, function(grantedUs, cost)\n  visited = visited + 1\n  if grantedUs <= rate.nowUs then\n    deleted = deleted + 1\n  elseif visited > rate.skipped then\n    left = left + cost\n  end\nend)\nif deleted == all then\n  redis.call('DEL', log, state)\nelseif deleted > 0 then\n  redis.call('LTRIM', log, deleted, -1)\n  redis.call('HSET', state, 'used', left, 'skipped', math.max(0, rate.skipped - deleted))\nend\nreturn deleted > 0 and 1 or 0\n",
  },
  keysOf: (names) => [names.log, names.state],
  argsOf: () => [],
  read: (reply) => flag(reply),
}
