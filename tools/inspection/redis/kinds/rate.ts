import { derived } from '../../../../src/servers/redis/calls/keys.ts'
import { RATE_NAMES } from '../../../../src/servers/redis/key-names/rate.ts'
import { pairs, type Requests } from '../answers.ts'
import type { KeyKind } from './kind.ts'
import { MOST_READ } from './names.ts'

const { state } = RATE_NAMES

export const rate: KeyKind = {
  kind: 'rate',
  named: [state],
  expiring: [state],
  requests: ({ key, type }): Requests =>
    type === 'list'
      ? {
          rate: ['HGETALL', derived(state, key)],
          grants: ['LRANGE', key, -MOST_READ, -1],
        }
      : {},
  conclude(answers) {
    if (answers.found.type !== 'list' || answers.isRefused('rate')) return null
    const fields = new Map(pairs(answers.list('rate')))
    const numberOf = (field: string) => Number(fields.get(field) ?? 0)
    const [permits, perMs] = [numberOf('permits'), numberOf('perMs')]
    if (!(permits > 0 && perMs > 0)) return null
    const nowUs = answers.found.nowMs * 1_000 + numberOf('skewUs')
    const grants = answers.list('grants').map(readGrant)
    const counting = grants.filter(({ atUs }) => atUs <= nowUs && atUs + perMs * 1_000 > nowUs)
    const waiting = grants.filter(({ atUs }) => atUs > nowUs)
    // If the log is too long to be read, the sum of the server counts, which may have older grants.
    const isWhole = grants.length < MOST_READ || counting.length + waiting.length < grants.length
    const used = isWhole ? costOf(counting) : Math.max(0, numberOf('used') - costOf(waiting))
    return {
      count: { available: Math.max(0, permits - used), taken: used, toGo: null },
      queue: waiting.map(({ owner, cost }) => ({
        ...{ owner, waitedMs: null, isDead: false },
        wants: cost === 1 ? '1 permit' : `${cost} permits`,
      })),
    }
  },
  rights: ({ lock, own }) => ({
    kind: 'rate limiter',
    commands: [
      ['LLEN', lock],
      ['LINDEX', lock, '-1'],
      ['LPOS', lock, 'm'],
      ['LRANGE', lock, '0', '-1'],
      ['LREM', lock, '-1', 'm'],
      ['LTRIM', lock, '0', '-1'],
      ['RPUSH', lock, 'm'],
    ],
    patterns: own(state),
  }),
}

interface Grant {
  readonly atUs: number
  readonly cost: number
  /** The id of the call. */
  readonly owner: string
}

/** Reads an entry of the log: `<atUs> <cost> <id>`. */
function readGrant(entry: string): Grant {
  const [atUs, cost, ...owner] = entry.split(' ')
  return { atUs: Number(atUs), cost: Number(cost), owner: owner.join(' ') }
}

function costOf(grants: readonly Grant[]): number {
  return grants.reduce((sum, { cost }) => sum + cost, 0)
}
