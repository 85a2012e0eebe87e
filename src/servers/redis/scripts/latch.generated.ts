// Generated from the headers of lua/ by `npm run lua`. Do not edit.
import { flag, listOf, odd, sized, text, whole } from './reading.ts'
import type { Args, Script, Value } from './script.ts'
import type { Terms } from './terms.ts'

export const countDown: Script<'askedUs' | 'untilUs' | 'channel' | 'publish'> = {
  name: "latch/count-down",
  keys: ["latch","round","request"],
  args: ["askedUs","untilUs","channel","publish"],
  sha1: "1359089e19e9e9927bb9f2e0ac07dcfcb93c6fdd",
  source: "--[[\n  Counts a latch down by one; at zero it is open, and one message wakes those who await it.\n\n  Safe to run twice: what a request came to is kept under its name for as long as it may still run. One that\n  was asked for before this round began counts for nothing, for its own round is over. Where there is nothing to\n  be counted nothing is kept.\n\n  KEYS[1]  latch    string: what is left to be counted\n  KEYS[2]  round    string: when the count was set\n  KEYS[3]  request  string: what this request came to\n  ARGV[1]  askedUs  server time at which it was asked for, at the latest, in µs; 0 is any\n  ARGV[2]  untilUs  server time after which no copy of it is counted, in µs; 0 is never\n  ARGV[3]  channel  where those who await the latch listen\n  ARGV[4]  publish  PUBLISH or SPUBLISH\n\n  Returns\n    { 'counted', left }       what was left after it; 0 where there was nothing to be counted\n    { 'over', setUs >= 1, serverTimeUs >= 1 }  not counted: the count was set at setUs, after it was asked for\n    { 'forgotten', serverTimeUs >= 1 }  refused: it is later than untilUs, and nothing of it is remembered\n]]\nlocal latch, round, request = KEYS[1], KEYS[2], KEYS[3]\nlocal askedUs, untilUs, channel, publish = tonumber(ARGV[1]), tonumber(ARGV[2]), ARGV[3], ARGV[4]\n\n-- The server's time in µs: for all that one request does, that of the first who asked.\nlocal time, firstUs, firstText\nlocal function serverTimeUs()\n  if not firstUs then\n    time = redis.call('TIME')\n    firstUs = time[1] * 1000000 + time[2]\n  end\n  return firstUs\nend\n\n-- The same as a string: quicker than to format the number.\nlocal function serverTimeText()\n  if not firstText then\n    serverTimeUs()\n    firstText = time[1] .. string.sub('00000' .. time[2], -6)\n  end\n  return firstText\nend\n\n-- Included after parts/server-time.lua. Whether a request came too late: after the time that it was\n-- given, or by a clock that was set back meanwhile, which shows in a time that is too far ahead. The last\n-- three digits of `notAfterUs` say how far it may be, in tenths of a second; 0 is any.\nlocal function isLate(notAfterUs)\n  if notAfterUs <= 0 then\n    return false\n  end\n  local aheadUs, mostUs = notAfterUs - serverTimeUs(), notAfterUs % 1000 * 100000\n  return aheadUs < 0 or mostUs > 0 and aheadUs > mostUs\nend\n\n-- Included after parts/server-time.lua and parts/late.lua. A request that is to count once, however often it is\n-- sent and whenever its copies arrive: what it came to is kept under a name of its own, for as long as a copy\n-- may still run, which is until `untilUs`.\n--\n-- request  string with an expiry: what it came to\n\n-- Where `untilUs` is 0 it may run at any time; it is kept for no longer than this.\nlocal LONGEST_KEPT_US = 90000000\n\n-- What it came to before; false where it has not run.\nlocal function answerTo(request)\n  return redis.call('GET', request)\nend\n\n-- To be called after the first write: a full server refuses SET, but not in a script that has written already.\nlocal function keepAnswer(request, answer, untilUs)\n  local untilUs = untilUs > 0 and untilUs or serverTimeUs() + LONGEST_KEPT_US\n  -- A little longer, so that it is there when the request is refused as late.\n  redis.call('SET', request, answer, 'PXAT', string.format('%.0f', math.ceil(untilUs / 1000) + 1000))\nend\n\n-- Included by the scripts of the count-down latch, after parts/server-time.lua.\n--\n-- latch  string: what is left to be counted, as Redisson has it; not there when the latch is open\n-- round  string with an expiry: when the count was set, server time in µs. Redisson does not know of it, so that\n--        it may be missing, or be of an earlier count\n\n-- An awaiter looks every few seconds, and knows the round by then.\nlocal ROUND_MS = 3600000\n\n-- What is left; false where no count is set. A key of another type is an error of GET.\nlocal function countOf(latch)\n  local count = redis.call('GET', latch)\n  if not count then\n    return false\n  end\n  if not string.match(count, '^%-?%d+$') then\n    return redis.error_reply('WRONGTYPE a key that is no count has this name')\n  end\n  return tonumber(count)\nend\n\n-- Since when there is this round, if it was set after a call was made: by an upper bound of that moment. One that\n-- is ahead of the server's clock, which was set back then, says nothing.\nlocal function setAfter(round, askedUs)\n  local setUs = redis.call('GET', round)\n  if setUs and askedUs > 0 and tonumber(setUs) > askedUs and tonumber(setUs) <= serverTimeUs() then\n    return setUs\n  end\n  return false\nend\n\nlocal count = countOf(latch)\nif type(count) == 'table' then\n  return count\nend\nlocal answer = answerTo(request)\nif answer then\n  return { 'counted', answer }\nend\nif not count then\n  return { 'counted', 0 }\nend\nif isLate(untilUs) then\n  return { 'forgotten', serverTimeText() }\nend\nlocal setUs = setAfter(round, askedUs)\nif setUs then\n  return { 'over', setUs, serverTimeText() }\nend\n\nlocal left = count - 1\nif left > 0 then\n  -- First: a full server refuses DECR, but not in a script that has written something already.\n  redis.call('DEL', request)\n  left = redis.call('DECR', latch)\nelse\n  -- Redisson leaves no zero either, and nothing below it.\n  redis.call('DEL', latch, round)\nend\nif left < 0 then\n  return { 'counted', 0 }\nend\nkeepAnswer(request, left, untilUs)\nif left == 0 then\n  redis.call(publish, channel, '0')\nend\nreturn { 'counted', left }\n",
}

export interface CountDownArgs {
  readonly askedUs: number
  readonly untilUs: number
}

export function countDownArgs(given: CountDownArgs, terms: Pick<Terms, 'publish'>, names: { readonly channel: string }): Args {
  const args: Value[] = [given.askedUs, given.untilUs, names.channel, terms.publish]
  return args
}

export type CountDownReply = 
  | { readonly kind: 'counted'; readonly left: number }
  | { readonly kind: 'over'; readonly setUs: number; readonly serverTimeUs: number }
  | { readonly kind: 'forgotten'; readonly serverTimeUs: number }

export function readCountDown(reply: unknown): CountDownReply {
  const list = listOf(reply)
  switch (list[0]) {
    case 'counted':
      sized(list, 2)
      return { kind: 'counted', left: whole(list[1], 0) }
    case 'over':
      sized(list, 3)
      return { kind: 'over', setUs: whole(list[1], 1), serverTimeUs: whole(list[2], 1) }
    case 'forgotten':
      sized(list, 2)
      return { kind: 'forgotten', serverTimeUs: whole(list[1], 1) }
    default:
      throw odd()
  }
}

export const deleteCount: Script<'askedUs' | 'untilUs' | 'channel' | 'publish'> = {
  name: "latch/delete-count",
  keys: ["latch","round","request"],
  args: ["askedUs","untilUs","channel","publish"],
  sha1: "1d3b4102deda372a41de5b03c87882382fe06dc9",
  source: "--[[\n  Deletes the count of a latch, which is open then, and wakes those who await it.\n\n  Safe to run twice: what a request came to is kept under its name for as long as it may still run. A count that\n  was set after the call was made is not deleted.\n\n  KEYS[1]  latch    string: what is left to be counted\n  KEYS[2]  round    string: when the count was set\n  KEYS[3]  request  string: what this request came to\n  ARGV[1]  askedUs  server time at which it was asked for, at the latest, in µs; 0 is any\n  ARGV[2]  untilUs  server time after which no copy of it is done, in µs; 0 is never\n  ARGV[3]  channel  where those who await the latch listen\n  ARGV[4]  publish  PUBLISH or SPUBLISH\n\n  Returns\n    { 'done', isDeleted: 1 or 0 }  whether there was a count\n    { 'over', setUs >= 1, serverTimeUs >= 1 }  not deleted: the count was set at setUs, after it was asked for\n    { 'forgotten', serverTimeUs >= 1 }  refused: it is later than untilUs, and nothing of it is remembered\n]]\nlocal latch, round, request = KEYS[1], KEYS[2], KEYS[3]\nlocal askedUs, untilUs, channel, publish = tonumber(ARGV[1]), tonumber(ARGV[2]), ARGV[3], ARGV[4]\n\n-- The server's time in µs: for all that one request does, that of the first who asked.\nlocal time, firstUs, firstText\nlocal function serverTimeUs()\n  if not firstUs then\n    time = redis.call('TIME')\n    firstUs = time[1] * 1000000 + time[2]\n  end\n  return firstUs\nend\n\n-- The same as a string: quicker than to format the number.\nlocal function serverTimeText()\n  if not firstText then\n    serverTimeUs()\n    firstText = time[1] .. string.sub('00000' .. time[2], -6)\n  end\n  return firstText\nend\n\n-- Included after parts/server-time.lua. Whether a request came too late: after the time that it was\n-- given, or by a clock that was set back meanwhile, which shows in a time that is too far ahead. The last\n-- three digits of `notAfterUs` say how far it may be, in tenths of a second; 0 is any.\nlocal function isLate(notAfterUs)\n  if notAfterUs <= 0 then\n    return false\n  end\n  local aheadUs, mostUs = notAfterUs - serverTimeUs(), notAfterUs % 1000 * 100000\n  return aheadUs < 0 or mostUs > 0 and aheadUs > mostUs\nend\n\n-- Included after parts/server-time.lua and parts/late.lua. A request that is to count once, however often it is\n-- sent and whenever its copies arrive: what it came to is kept under a name of its own, for as long as a copy\n-- may still run, which is until `untilUs`.\n--\n-- request  string with an expiry: what it came to\n\n-- Where `untilUs` is 0 it may run at any time; it is kept for no longer than this.\nlocal LONGEST_KEPT_US = 90000000\n\n-- What it came to before; false where it has not run.\nlocal function answerTo(request)\n  return redis.call('GET', request)\nend\n\n-- To be called after the first write: a full server refuses SET, but not in a script that has written already.\nlocal function keepAnswer(request, answer, untilUs)\n  local untilUs = untilUs > 0 and untilUs or serverTimeUs() + LONGEST_KEPT_US\n  -- A little longer, so that it is there when the request is refused as late.\n  redis.call('SET', request, answer, 'PXAT', string.format('%.0f', math.ceil(untilUs / 1000) + 1000))\nend\n\n-- Included by the scripts of the count-down latch, after parts/server-time.lua.\n--\n-- latch  string: what is left to be counted, as Redisson has it; not there when the latch is open\n-- round  string with an expiry: when the count was set, server time in µs. Redisson does not know of it, so that\n--        it may be missing, or be of an earlier count\n\n-- An awaiter looks every few seconds, and knows the round by then.\nlocal ROUND_MS = 3600000\n\n-- What is left; false where no count is set. A key of another type is an error of GET.\nlocal function countOf(latch)\n  local count = redis.call('GET', latch)\n  if not count then\n    return false\n  end\n  if not string.match(count, '^%-?%d+$') then\n    return redis.error_reply('WRONGTYPE a key that is no count has this name')\n  end\n  return tonumber(count)\nend\n\n-- Since when there is this round, if it was set after a call was made: by an upper bound of that moment. One that\n-- is ahead of the server's clock, which was set back then, says nothing.\nlocal function setAfter(round, askedUs)\n  local setUs = redis.call('GET', round)\n  if setUs and askedUs > 0 and tonumber(setUs) > askedUs and tonumber(setUs) <= serverTimeUs() then\n    return setUs\n  end\n  return false\nend\n\nlocal count = countOf(latch)\nif type(count) == 'table' then\n  return count\nend\nlocal answer = answerTo(request)\nif answer then\n  return { 'done', answer }\nend\nif isLate(untilUs) then\n  return { 'forgotten', serverTimeText() }\nend\nlocal setUs = count and setAfter(round, askedUs)\nif setUs then\n  return { 'over', setUs, serverTimeText() }\nend\nredis.call('DEL', latch, round)\n-- Also where there was none: a copy that comes when the count is set anew must not delete it.\nkeepAnswer(request, count and '1' or '0', untilUs)\nif count then\n  redis.call(publish, channel, '1')\nend\nreturn { 'done', count and '1' or '0' }\n",
}

export interface DeleteCountArgs {
  readonly askedUs: number
  readonly untilUs: number
}

export function deleteCountArgs(given: DeleteCountArgs, terms: Pick<Terms, 'publish'>, names: { readonly channel: string }): Args {
  const args: Value[] = [given.askedUs, given.untilUs, names.channel, terms.publish]
  return args
}

export type DeleteCountReply = 
  | { readonly kind: 'done'; readonly isDeleted: boolean }
  | { readonly kind: 'over'; readonly setUs: number; readonly serverTimeUs: number }
  | { readonly kind: 'forgotten'; readonly serverTimeUs: number }

export function readDeleteCount(reply: unknown): DeleteCountReply {
  const list = listOf(reply)
  switch (list[0]) {
    case 'done':
      sized(list, 2)
      return { kind: 'done', isDeleted: flag(list[1]) }
    case 'over':
      sized(list, 3)
      return { kind: 'over', setUs: whole(list[1], 1), serverTimeUs: whole(list[2], 1) }
    case 'forgotten':
      sized(list, 2)
      return { kind: 'forgotten', serverTimeUs: whole(list[1], 1) }
    default:
      throw odd()
  }
}

export const inspect: Script<'channel' | 'publish'> = {
  name: "latch/inspect",
  keys: ["latch"],
  args: ["channel","publish"],
  sha1: "4fead72d629546619d04efa05fa24766d0b20757",
  source: "--[[\n  Tells what is left of a latch, and how many await it, and changes nothing.\n\n  KEYS[1]  latch    string: what is left to be counted\n  ARGV[1]  channel  where those who await the latch listen\n  ARGV[2]  publish  PUBLISH or SPUBLISH, as they are told there\n\n  Returns\n    { count, listeners }  count is 0 where the latch is open\n]]\nlocal latch, channel, publish = KEYS[1], ARGV[1], ARGV[2]\n\n-- The server's time in µs: for all that one request does, that of the first who asked.\nlocal time, firstUs, firstText\nlocal function serverTimeUs()\n  if not firstUs then\n    time = redis.call('TIME')\n    firstUs = time[1] * 1000000 + time[2]\n  end\n  return firstUs\nend\n\n-- The same as a string: quicker than to format the number.\nlocal function serverTimeText()\n  if not firstText then\n    serverTimeUs()\n    firstText = time[1] .. string.sub('00000' .. time[2], -6)\n  end\n  return firstText\nend\n\n-- How many listen to a channel, in the way that it is published to: PUBLISH or SPUBLISH.\nlocal function listenersAt(channel, publish)\n  return redis.call('PUBSUB', publish == 'SPUBLISH' and 'SHARDNUMSUB' or 'NUMSUB', channel)[2]\nend\n\n-- Included by the scripts of the count-down latch, after parts/server-time.lua.\n--\n-- latch  string: what is left to be counted, as Redisson has it; not there when the latch is open\n-- round  string with an expiry: when the count was set, server time in µs. Redisson does not know of it, so that\n--        it may be missing, or be of an earlier count\n\n-- An awaiter looks every few seconds, and knows the round by then.\nlocal ROUND_MS = 3600000\n\n-- What is left; false where no count is set. A key of another type is an error of GET.\nlocal function countOf(latch)\n  local count = redis.call('GET', latch)\n  if not count then\n    return false\n  end\n  if not string.match(count, '^%-?%d+$') then\n    return redis.error_reply('WRONGTYPE a key that is no count has this name')\n  end\n  return tonumber(count)\nend\n\n-- Since when there is this round, if it was set after a call was made: by an upper bound of that moment. One that\n-- is ahead of the server's clock, which was set back then, says nothing.\nlocal function setAfter(round, askedUs)\n  local setUs = redis.call('GET', round)\n  if setUs and askedUs > 0 and tonumber(setUs) > askedUs and tonumber(setUs) <= serverTimeUs() then\n    return setUs\n  end\n  return false\nend\n\nlocal count = countOf(latch)\nif type(count) == 'table' then\n  return count\nend\nreturn { math.max(count or 0, 0), listenersAt(channel, publish) }\n",
}

export function inspectArgs(terms: Pick<Terms, 'publish'>, names: { readonly channel: string }): Args {
  const args: Value[] = [names.channel, terms.publish]
  return args
}

export type InspectReply = { readonly count: number; readonly listeners: number }

export function readInspect(reply: unknown): InspectReply {
  const parts = listOf(reply)
  sized(parts, 2)
  return { count: whole(parts[0], 0), listeners: whole(parts[1], 0) }
}

export const look: Script<never> = {
  name: "latch/look",
  keys: ["latch","round"],
  args: [],
  sha1: "dd05db5465b51ddc1d250cdca58599aec96253d9",
  source: "--[[\n  Tells what is left of a latch, and in which round, and changes nothing.\n\n  KEYS[1]  latch  string: what is left to be counted\n  KEYS[2]  round  string: when the count was set\n\n  Returns\n    { count, round: text or '' as null }  count is 0 where the latch is open; round is '' where it is not known\n]]\nlocal latch, round = KEYS[1], KEYS[2]\n\n-- The server's time in µs: for all that one request does, that of the first who asked.\nlocal time, firstUs, firstText\nlocal function serverTimeUs()\n  if not firstUs then\n    time = redis.call('TIME')\n    firstUs = time[1] * 1000000 + time[2]\n  end\n  return firstUs\nend\n\n-- The same as a string: quicker than to format the number.\nlocal function serverTimeText()\n  if not firstText then\n    serverTimeUs()\n    firstText = time[1] .. string.sub('00000' .. time[2], -6)\n  end\n  return firstText\nend\n\n-- Included by the scripts of the count-down latch, after parts/server-time.lua.\n--\n-- latch  string: what is left to be counted, as Redisson has it; not there when the latch is open\n-- round  string with an expiry: when the count was set, server time in µs. Redisson does not know of it, so that\n--        it may be missing, or be of an earlier count\n\n-- An awaiter looks every few seconds, and knows the round by then.\nlocal ROUND_MS = 3600000\n\n-- What is left; false where no count is set. A key of another type is an error of GET.\nlocal function countOf(latch)\n  local count = redis.call('GET', latch)\n  if not count then\n    return false\n  end\n  if not string.match(count, '^%-?%d+$') then\n    return redis.error_reply('WRONGTYPE a key that is no count has this name')\n  end\n  return tonumber(count)\nend\n\n-- Since when there is this round, if it was set after a call was made: by an upper bound of that moment. One that\n-- is ahead of the server's clock, which was set back then, says nothing.\nlocal function setAfter(round, askedUs)\n  local setUs = redis.call('GET', round)\n  if setUs and askedUs > 0 and tonumber(setUs) > askedUs and tonumber(setUs) <= serverTimeUs() then\n    return setUs\n  end\n  return false\nend\n\nlocal count = countOf(latch)\nif type(count) == 'table' then\n  return count\nend\nreturn { math.max(count or 0, 0), redis.call('GET', round) or '' }\n",
}

export type LookReply = { readonly count: number; readonly round: string | null }

export function readLook(reply: unknown): LookReply {
  const parts = listOf(reply)
  sized(parts, 2)
  return { count: whole(parts[0], 0), round: parts[1] === '' ? null : text(parts[1]) }
}

export const setCount: Script<'count' | 'untilUs' | 'channel' | 'publish'> = {
  name: "latch/set-count",
  keys: ["latch","round","request"],
  args: ["count","untilUs","channel","publish"],
  sha1: "bc908fe09f49af479bba66c460a524e871913dec",
  source: "--[[\n  Sets the count of a latch that is open, and so begins a round.\n\n  Safe to run twice: what a request came to is kept under its name for as long as it may still run.\n\n  KEYS[1]  latch    string: what is left to be counted\n  KEYS[2]  round    string: when the count was set\n  KEYS[3]  request  string: what this request came to\n  ARGV[1]  count    number: from 1 up\n  ARGV[2]  untilUs  server time after which no copy of it is done, in µs; 0 is never\n  ARGV[3]  channel  where those who await the latch listen\n  ARGV[4]  publish  PUBLISH or SPUBLISH\n\n  Returns\n    { 'done', isSet: 1 or 0 }  whether this request set it; 0 where there is a count\n    { 'forgotten', serverTimeUs >= 1 }  refused: it is later than untilUs, and nothing of it is remembered\n]]\nlocal latch, round, request = KEYS[1], KEYS[2], KEYS[3]\nlocal count, untilUs, channel, publish = ARGV[1], tonumber(ARGV[2]), ARGV[3], ARGV[4]\n\n-- The server's time in µs: for all that one request does, that of the first who asked.\nlocal time, firstUs, firstText\nlocal function serverTimeUs()\n  if not firstUs then\n    time = redis.call('TIME')\n    firstUs = time[1] * 1000000 + time[2]\n  end\n  return firstUs\nend\n\n-- The same as a string: quicker than to format the number.\nlocal function serverTimeText()\n  if not firstText then\n    serverTimeUs()\n    firstText = time[1] .. string.sub('00000' .. time[2], -6)\n  end\n  return firstText\nend\n\n-- Included after parts/server-time.lua. Whether a request came too late: after the time that it was\n-- given, or by a clock that was set back meanwhile, which shows in a time that is too far ahead. The last\n-- three digits of `notAfterUs` say how far it may be, in tenths of a second; 0 is any.\nlocal function isLate(notAfterUs)\n  if notAfterUs <= 0 then\n    return false\n  end\n  local aheadUs, mostUs = notAfterUs - serverTimeUs(), notAfterUs % 1000 * 100000\n  return aheadUs < 0 or mostUs > 0 and aheadUs > mostUs\nend\n\n-- Included after parts/server-time.lua and parts/late.lua. A request that is to count once, however often it is\n-- sent and whenever its copies arrive: what it came to is kept under a name of its own, for as long as a copy\n-- may still run, which is until `untilUs`.\n--\n-- request  string with an expiry: what it came to\n\n-- Where `untilUs` is 0 it may run at any time; it is kept for no longer than this.\nlocal LONGEST_KEPT_US = 90000000\n\n-- What it came to before; false where it has not run.\nlocal function answerTo(request)\n  return redis.call('GET', request)\nend\n\n-- To be called after the first write: a full server refuses SET, but not in a script that has written already.\nlocal function keepAnswer(request, answer, untilUs)\n  local untilUs = untilUs > 0 and untilUs or serverTimeUs() + LONGEST_KEPT_US\n  -- A little longer, so that it is there when the request is refused as late.\n  redis.call('SET', request, answer, 'PXAT', string.format('%.0f', math.ceil(untilUs / 1000) + 1000))\nend\n\n-- Included by the scripts of the count-down latch, after parts/server-time.lua.\n--\n-- latch  string: what is left to be counted, as Redisson has it; not there when the latch is open\n-- round  string with an expiry: when the count was set, server time in µs. Redisson does not know of it, so that\n--        it may be missing, or be of an earlier count\n\n-- An awaiter looks every few seconds, and knows the round by then.\nlocal ROUND_MS = 3600000\n\n-- What is left; false where no count is set. A key of another type is an error of GET.\nlocal function countOf(latch)\n  local count = redis.call('GET', latch)\n  if not count then\n    return false\n  end\n  if not string.match(count, '^%-?%d+$') then\n    return redis.error_reply('WRONGTYPE a key that is no count has this name')\n  end\n  return tonumber(count)\nend\n\n-- Since when there is this round, if it was set after a call was made: by an upper bound of that moment. One that\n-- is ahead of the server's clock, which was set back then, says nothing.\nlocal function setAfter(round, askedUs)\n  local setUs = redis.call('GET', round)\n  if setUs and askedUs > 0 and tonumber(setUs) > askedUs and tonumber(setUs) <= serverTimeUs() then\n    return setUs\n  end\n  return false\nend\n\nlocal before = countOf(latch)\nif type(before) == 'table' then\n  return before\nend\nlocal answer = answerTo(request)\nif answer then\n  return { 'done', answer }\nend\nif isLate(untilUs) then\n  return { 'forgotten', serverTimeText() }\nend\nif before then\n  -- Also this: a copy that comes when the latch has opened must not set it.\n  keepAnswer(request, '0', untilUs)\n  return { 'done', '0' }\nend\nredis.call('SET', latch, count)\nredis.call('SET', round, serverTimeText(), 'PX', ROUND_MS)\nkeepAnswer(request, '1', untilUs)\nredis.call(publish, channel, '1')\nreturn { 'done', '1' }\n",
}

export interface SetCountArgs {
  readonly count: number
  readonly untilUs: number
}

export function setCountArgs(given: SetCountArgs, terms: Pick<Terms, 'publish'>, names: { readonly channel: string }): Args {
  const args: Value[] = [given.count, given.untilUs, names.channel, terms.publish]
  return args
}

export type SetCountReply = 
  | { readonly kind: 'done'; readonly isSet: boolean }
  | { readonly kind: 'forgotten'; readonly serverTimeUs: number }

export function readSetCount(reply: unknown): SetCountReply {
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
}
