// Generated from the headers of lua/ by `npm run lua`. Do not edit.
import { flag, listOf, odd, pairs, sized, whole } from './reading.ts'
import type { Binding } from './script.ts'

export interface BeginArgs {
  readonly owner: string
  readonly token: number
  readonly by: string
  readonly atLeastMs: number
  readonly everyMs: number
  readonly tick: number | ''
  readonly repeats: boolean
  readonly waitedMs: number
  readonly keepMs: number
  readonly mostRuns: number
}

export type BeginReply = 
  | { readonly kind: 'begun'; readonly startedUs: number; readonly missed: number; readonly earlier: [string, string][] }
  | { readonly kind: 'served'; readonly isNews: boolean; readonly run: [string, string][] }
  | { readonly kind: 'lost' }

export const begin: Binding<{ readonly lock: string; readonly job: string; readonly runs: string }, BeginArgs, BeginReply> = {
  script: {
    name: "job/begin",
    keys: ["lock","job","runs"],
    args: ["owner","token","by","atLeastMs","everyMs","tick","repeats","waitedMs","keepMs","mostRuns"],
    sha1: "3c08bec282d874ebcfdef88dec9a923b0404b80f",
    source: "local lock, job, runs = KEYS[1], KEYS[2], KEYS[3]\nlocal owner, token, by = ARGV[1], tonumber(ARGV[2]), ARGV[3]\nlocal atLeastMs, everyMs, tick = tonumber(ARGV[4]), tonumber(ARGV[5]), tonumber(ARGV[6])\nlocal repeats, waitedMs, keepMs, mostRuns = ARGV[7] == '1', tonumber(ARGV[8]), tonumber(ARGV[9]), tonumber(ARGV[10])\nlocal time, firstUs, firstText\nlocal function serverTimeUs()\n  if not firstUs then\n    time = redis.call('TIME')\n    firstUs = time[1] * 1000000 + time[2]\n  end\n  return firstUs\nend\nlocal function serverTimeText()\n  if not firstText then\n    serverTimeUs()\n    firstText = time[1] .. string.sub('00000' .. time[2], -6)\n  end\n  return firstText\nend\nlocal function keepJob(job, runs, keepMs)\n  for _, key in ipairs({ job, runs }) do\n    redis.call('PEXPIRE', key, math.max(redis.call('PTTL', key), keepMs))\n  end\nend\nlocal function endRun(job, runs, keepMs, mostRuns, ...)\n  redis.call('HSET', job, 'endedUs', serverTimeText(), ...)\n  redis.call('HDEL', job, 'earlier')\n  if mostRuns > 0 then\n    redis.call('LPUSH', runs, cjson.encode(redis.call('HGETALL', job)))\n    redis.call('LTRIM', runs, 0, mostRuns - 1)\n  end\n  keepJob(job, runs, keepMs)\nend\nlocal function microseconds(number)\n  return string.format('%.0f', number)\nend\nif redis.call('HEXISTS', lock, owner) == 0 then\n  return { 'lost' }\nend\nkeepJob(job, runs, keepMs)\nlocal last = redis.call('HMGET', job, 'token', 'state', 'startedUs', 'endedUs', 'untilUs', 'tick', 'missed',\n  'foundBy', 'earlier')\nlocal lastToken, state = tonumber(last[1] or 0), last[2]\nlocal lastStartedUs, endedUs, untilUs = tonumber(last[3] or 0), tonumber(last[4] or 0), tonumber(last[5] or 0)\nlocal lastTick = tonumber(last[6] or '')\nif lastToken == token and state == 'running' then\n  return { 'begun', last[3], last[7], last[9] and cjson.decode(last[9]) or {} }\nend\nif lastToken >= token then\n  return { 'lost' }\nend\nlocal aheadUs = math.max(lastStartedUs, endedUs) - serverTimeUs()\nif aheadUs > 0 then\n  lastStartedUs, untilUs = lastStartedUs - aheadUs, untilUs - aheadUs\n  redis.call('HSET', job, 'startedUs', microseconds(lastStartedUs), 'untilUs', microseconds(untilUs))\n  if endedUs > 0 then\n    endedUs = endedUs - aheadUs\n    redis.call('HSET', job, 'endedUs', microseconds(endedUs))\n  end\nend\nlocal isNews = state == 'running' or state == 'crashed' and last[8] == ARGV[2]\nif state == 'running' then\n  state = 'crashed'\n  endRun(job, runs, keepMs, mostRuns, 'state', state, 'foundBy', ARGV[2])\nend\nlocal repeated = state == 'crashed' and repeats\nlocal askedUs = serverTimeUs() - waitedMs * 1000\nlocal isServed\nif repeated then\n  isServed = false\nelseif tick and lastTick then\n  isServed = tick <= lastTick\nelse\n  isServed = askedUs < untilUs or state ~= 'crashed' and askedUs < endedUs\nend\nif isServed then\n  return { 'served', isNews and 1 or 0, redis.call('HGETALL', job) }\nend\nlocal earlier = isNews and redis.call('HGETALL', job) or {}\nlocal missed = 0\nif everyMs > 0 and lastStartedUs > 0 then\n  local intervals = (serverTimeUs() - lastStartedUs) / 1000 / everyMs\n  missed = math.max(0, math.floor(intervals + 0.5) - 1)\nend\nlocal ownUntilUs = (repeated and askedUs or serverTimeUs()) + atLeastMs * 1000\nif repeated then\n  ownUntilUs = math.max(ownUntilUs, untilUs)\nend\nredis.call('DEL', job)\nredis.call('HSET', job, 'token', ARGV[2], 'owner', owner, 'by', by, 'state', 'running')\nredis.call('HSET', job, 'startedUs', serverTimeText(), 'untilUs', microseconds(ownUntilUs), 'missed', missed)\nif repeated and lastTick and not (tick and tick > lastTick) then\n  redis.call('HSET', job, 'tick', last[6])\nelseif tick then\n  redis.call('HSET', job, 'tick', ARGV[6])\nend\nif everyMs > 0 then\n  redis.call('HSET', job, 'everyMs', ARGV[5])\nend\nif isNews then\n  redis.call('HSET', job, 'earlier', cjson.encode(earlier))\nend\nkeepJob(job, runs, keepMs)\nreturn { 'begun', serverTimeText(), missed, earlier }\n",
  },
  keysOf: (names) => [names.lock, names.job, names.runs],
  argsOf: (given) => [given.owner, given.token, given.by, given.atLeastMs, given.everyMs, given.tick, given.repeats ? 1 : '', given.waitedMs, given.keepMs, given.mostRuns],
  read: (reply) => {
    const list = listOf(reply)
    switch (list[0]) {
      case 'begun':
        sized(list, 4)
        return { kind: 'begun', startedUs: whole(list[1], 1), missed: whole(list[2], 0), earlier: pairs(list[3]) }
      case 'served':
        sized(list, 3)
        return { kind: 'served', isNews: flag(list[1]), run: pairs(list[2]) }
      case 'lost':
        sized(list, 1)
        return { kind: 'lost' }
      default:
        throw odd()
    }
  },
}

export interface FinishArgs {
  readonly token: number
  readonly state: string
  readonly result: string
  readonly error: string
  readonly forgets: boolean
  readonly keepMs: number
  readonly mostRuns: number
}

export type FinishReply = 
  | { readonly kind: 'stored'; readonly durationMs: number }
  | { readonly kind: 'replaced' }

export const finish: Binding<{ readonly job: string; readonly runs: string }, FinishArgs, FinishReply> = {
  script: {
    name: "job/finish",
    keys: ["job","runs"],
    args: ["token","state","result","error","forgets","keepMs","mostRuns"],
    sha1: "5a83011ea6dee1a5d3413e435207c11f728cdbae",
    source: "local job, runs = KEYS[1], KEYS[2]\nlocal token, state, result, error, forgets = ARGV[1], ARGV[2], ARGV[3], ARGV[4], ARGV[5] == '1'\nlocal keepMs, mostRuns = tonumber(ARGV[6]), tonumber(ARGV[7])\nlocal time, firstUs, firstText\nlocal function serverTimeUs()\n  if not firstUs then\n    time = redis.call('TIME')\n    firstUs = time[1] * 1000000 + time[2]\n  end\n  return firstUs\nend\nlocal function serverTimeText()\n  if not firstText then\n    serverTimeUs()\n    firstText = time[1] .. string.sub('00000' .. time[2], -6)\n  end\n  return firstText\nend\nlocal function keepJob(job, runs, keepMs)\n  for _, key in ipairs({ job, runs }) do\n    redis.call('PEXPIRE', key, math.max(redis.call('PTTL', key), keepMs))\n  end\nend\nlocal function endRun(job, runs, keepMs, mostRuns, ...)\n  redis.call('HSET', job, 'endedUs', serverTimeText(), ...)\n  redis.call('HDEL', job, 'earlier')\n  if mostRuns > 0 then\n    redis.call('LPUSH', runs, cjson.encode(redis.call('HGETALL', job)))\n    redis.call('LTRIM', runs, 0, mostRuns - 1)\n  end\n  keepJob(job, runs, keepMs)\nend\nlocal last = redis.call('HMGET', job, 'token', 'state', 'startedUs', 'endedUs')\nif last[1] ~= token then\n  return { 'replaced' }\nend\nlocal endedUs = tonumber(last[4] or 0)\nif last[2] == 'running' or last[2] == 'crashed' then\n  local fields = { 'state', state }\n  for name, text in pairs({ result = result, error = error }) do\n    if text ~= '' then\n      fields[#fields + 1], fields[#fields + 2] = name, text\n    end\n  end\n  if last[2] == 'crashed' then\n    redis.call('LPOP', runs)\n  end\n  endRun(job, runs, keepMs, mostRuns, unpack(fields))\n  endedUs = serverTimeUs()\nend\nif forgets then\n  redis.call('HSET', job, 'untilUs', 0)\n  redis.call('HDEL', job, 'endedUs')\nend\nreturn { 'stored', math.max(0, math.floor((endedUs - tonumber(last[3])) / 1000)) }\n",
  },
  keysOf: (names) => [names.job, names.runs],
  argsOf: (given) => [given.token, given.state, given.result, given.error, given.forgets ? 1 : '', given.keepMs, given.mostRuns],
  read: (reply) => {
    const list = listOf(reply)
    switch (list[0]) {
      case 'stored':
        sized(list, 2)
        return { kind: 'stored', durationMs: whole(list[1], 0) }
      case 'replaced':
        sized(list, 1)
        return { kind: 'replaced' }
      default:
        throw odd()
    }
  },
}

export interface InspectArgs {
  readonly most: number
}

export type InspectReply = { readonly isHeld: boolean; readonly nowUs: number; readonly run: [string, string][]; readonly runs: [string, string][] }

export const inspect: Binding<{ readonly lock: string; readonly job: string; readonly runs: string }, InspectArgs, InspectReply> = {
  script: {
    name: "job/inspect",
    keys: ["lock","job","runs"],
    args: ["most"],
    sha1: "9056194ebe40a13be133e72863f737c4200bf25f",
    source: "local lock, job, runs, most = KEYS[1], KEYS[2], KEYS[3], tonumber(ARGV[1])\nlocal time, firstUs, firstText\nlocal function serverTimeUs()\n  if not firstUs then\n    time = redis.call('TIME')\n    firstUs = time[1] * 1000000 + time[2]\n  end\n  return firstUs\nend\nlocal function serverTimeText()\n  if not firstText then\n    serverTimeUs()\n    firstText = time[1] .. string.sub('00000' .. time[2], -6)\n  end\n  return firstText\nend\nlocal owner = redis.call('HGET', job, 'owner')\nlocal isHeld = owner and redis.call('HEXISTS', lock, owner) or 0\nlocal list = {}\nif most > 0 then\n  for i, run in ipairs(redis.call('LRANGE', runs, 0, most - 1)) do\n    list[#list + 1] = tostring(i)\n    list[#list + 1] = run\n  end\nend\nreturn { isHeld, serverTimeText(), redis.call('HGETALL', job), list }\n",
  },
  keysOf: (names) => [names.lock, names.job, names.runs],
  argsOf: (given) => [given.most],
  read: (reply) => {
    const parts = listOf(reply)
    sized(parts, 4)
    return { isHeld: flag(parts[0]), nowUs: whole(parts[1], 0), run: pairs(parts[2]), runs: pairs(parts[3]) }
  },
}
