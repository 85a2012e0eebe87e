// Generated from the headers of lua/ by `npm run lua`. Do not edit.
import type { Args, Script, Value } from './script.ts'

export const touch: Script<'leaseMs' | 'about' | 'notes'> = {
  name: "presence/touch",
  keys: ["client"],
  args: ["leaseMs","about","notes"],
  sha1: "1b5ca7eb09498f5804deddc66ea8b2325943cb12",
  source: "local client, leaseMs, about = KEYS[1], ARGV[1], ARGV[2]\nlocal set, gone = { 'about', about }, {}\nfor i = 3, #ARGV, 2 do\n  local field, note = 'note/' .. ARGV[i], ARGV[i + 1]\n  if note == '' then\n    gone[#gone + 1] = field\n  else\n    set[#set + 1] = field\n    set[#set + 1] = note\n  end\nend\nredis.call('HSET', client, unpack(set))\nredis.call('PEXPIRE', client, leaseMs)\nif #gone > 0 then\n  redis.call('HDEL', client, unpack(gone))\nend\n",
}

export interface TouchArgs {
  readonly leaseMs: number
  readonly about: string
  readonly notes: readonly { readonly owner: string; readonly note: string | '' }[]
}

export function touchArgs(given: TouchArgs): Args {
  const args: Value[] = [given.leaseMs, given.about]
  for (const one of given.notes) args.push(one.owner, one.note)
  return args
}
