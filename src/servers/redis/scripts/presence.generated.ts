// Generated from the headers of lua/ by `npm run lua`. Do not edit.
import type { Binding, Value } from './script.ts'

export interface TouchArgs {
  readonly leaseMs: number
  readonly about: string
  readonly clockMs: number
  readonly notes: readonly { readonly owner: string; readonly note: string | '' }[]
}

export type TouchReply = unknown

export const touch: Binding<{ readonly client: string }, TouchArgs, TouchReply> = {
  script: {
    name: "presence/touch",
    keys: ["client"],
    args: ["leaseMs","about","clockMs","notes"],
    sha1: "fe92a1640589159aaa706986a49698533bacec5b",
    source: "local client, leaseMs, about, clockMs = KEYS[1], ARGV[1], ARGV[2], ARGV[3]\nlocal time = redis.call('TIME')\nlocal at = time[1] .. string.sub('00' .. math.floor(time[2] / 1000), -3) .. ' ' .. clockMs\nlocal set, gone = { 'about', about, 'at', at }, {}\nfor i = 4, #ARGV, 2 do\n  local field, note = 'note/' .. ARGV[i], ARGV[i + 1]\n  if note == '' then\n    gone[#gone + 1] = field\n  else\n    set[#set + 1] = field\n    set[#set + 1] = note\n  end\nend\nredis.call('HSET', client, unpack(set))\nredis.call('PEXPIRE', client, leaseMs)\nif #gone > 0 then\n  redis.call('HDEL', client, unpack(gone))\nend\n",
  },
  keysOf: (names) => [names.client],
  argsOf: (given) => {
    const args: Value[] = [given.leaseMs, given.about, given.clockMs]
    for (const one of given.notes) args.push(one.owner, one.note)
    return args
  },
  read: (reply) => reply,
}
