// The arguments on the command line of run.mjs.
import { parseArgs } from 'node:util'
import { readKinds } from './kinds.mjs'

export function readArguments() {
  const { values } = parseArgs({
    options: {
      kinds: { type: 'string', default: 'all' },
      world: { type: 'string', default: 'single' },
      seconds: { type: 'string', default: '60' },
      seed: { type: 'string', default: String(Math.floor(Math.random() * 2 ** 31)) },
      clients: { type: 'string', default: '3' },
      callers: { type: 'string', default: '6' },
      fast: { type: 'string', default: '3' },
      forget: { type: 'boolean', default: false },
      force: { type: 'boolean', default: false },
      break: { type: 'string', default: '' },
      control: { type: 'string', default: '' },
      controls: { type: 'boolean', default: false },
      slice: { type: 'boolean', default: false },
      long: { type: 'boolean', default: false },
      history: { type: 'string', default: '' },
      plot: { type: 'string', default: '' },
      report: { type: 'string' },
      gaps: { type: 'string', default: '1' },
      minutes: { type: 'string', default: '45' },
      monitor: { type: 'boolean', default: false },
      verbose: { type: 'boolean', default: false },
    },
  })
  const { break: broken, ...others } = values
  const numbers = Object.fromEntries(
    ['seconds', 'seed', 'clients', 'callers', 'fast', 'gaps', 'minutes'].map((name) => [
      name,
      Number(values[name]),
    ]),
  )
  return { ...others, ...numbers, kinds: readKinds(values.kinds), broken }
}
