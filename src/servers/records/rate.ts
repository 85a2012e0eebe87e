import {
  RATE,
  type RateAnswer,
  type RateFacts,
  type RateGrant,
  type RateRequest,
  type RemoteRate,
} from '../rate-server.ts'
import { timeUs } from './moments.ts'
import { changeRecord, type OpenRecord, type RecordPart } from './open-record.ts'
import type { RecordKind } from './record-kind.ts'

/** The state of one rate limiter. The functions below do the same as the scripts in `lua/rate/`. */
interface RateState {
  /** The grants in order. The first `skipped` grants no longer count when the next grant begins. */
  log: RateGrant[]
  skipped: number
  /** The sum of the costs of the other grants. */
  used: number
  lastUs: number
  floorUs: number
  goneUs: number
  permits: number
  perMs: number
  keptMs: number
  keptUs: number
  seenUs: number
  skewUs: number
  /** When the state may be deleted, in ms of the server's time. */
  untilMs: number
}

const WHAT = RATE.what

/** One call deletes and skips at most this many grants, as the scripts do. */
const MOST_AT_ONCE = 100

const newState = (): RateState => ({
  ...{ log: [], skipped: 0, used: 0, lastUs: 0, floorUs: 0, goneUs: 0, permits: 0, perMs: 0 },
  ...{ keptMs: 0, keptUs: 0, seenUs: 0, skewUs: 0, untilMs: 0 },
})

const PART: RecordPart<RateState> = {
  name: 'rate',
  newState,
  expire(rate, nowMs) {
    if (rate.untilMs <= nowMs) Object.assign(rate, newState())
  },
  untilMs: ({ untilMs }) => untilMs,
  use: ({ log, untilMs }) => (log.length === 0 ? undefined : { what: WHAT, untilMs }),
}

/** Returns the state, and the current time. If the clock of the server is set back, the time stays. */
function open(record: OpenRecord): { readonly rate: RateState; readonly nowUs: number } {
  record.refuseOthers(WHAT)
  const rate = record.part(PART)
  const nowUs = timeUs(record.nowMs) + rate.skewUs
  return { rate, nowUs: Math.max(nowUs, rate.seenUs) }
}

function saw(rate: RateState, nowUs: number, record: OpenRecord): void {
  rate.seenUs = nowUs
  rate.skewUs = nowUs - timeUs(record.nowMs)
}

function acquire(record: OpenRecord, request: RateRequest): RateAnswer {
  const { id, permits, perMs, cost, mostMs, again } = request
  const { rate, nowUs } = open(record)
  const found = again && rate.log.find((grant) => grant.id === id)
  if (found) {
    return { kind: 'granted', waitUs: Math.max(0, found.atUs - nowUs), atUs: found.atUs }
  }
  let atUs = Math.max(nowUs, rate.lastUs)
  let { keptMs, floorUs, goneUs, used, skipped } = rate
  if (perMs > keptMs || atUs - rate.keptUs >= timeUs(keptMs)) {
    // In a longer interval, the skipped and deleted grants count for longer.
    const longerUs = timeUs(perMs - keptMs)
    if (floorUs > 0) floorUs = Math.max(0, floorUs + longerUs)
    if (goneUs > 0) goneUs = Math.max(0, goneUs + longerUs)
    keptMs = perMs
    atUs = Math.max(atUs, floorUs)
  }
  /** Skips a grant that no longer counts for any limit, when the next grant begins. */
  const skipIfOver = (one: RateGrant) => {
    const untilUs = one.atUs + timeUs(keptMs)
    if (untilUs > atUs) return false
    skipped += 1
    used -= one.cost
    floorUs = untilUs
    return true
  }
  const isOwn = (one: RateGrant) => one.atUs + timeUs(perMs) > atUs
  const isShorter = perMs < keptMs
  const counting = isShorter ? rate.log.filter(isOwn) : rate.log.slice(skipped)
  let left = counting.reduce((sum, one) => sum + one.cost, 0)
  for (const one of counting) {
    if (left + cost <= permits) break
    atUs = Math.max(atUs, one.atUs + timeUs(perMs))
    left -= one.cost
    if (!isShorter) skipIfOver(one)
  }
  if (isShorter) {
    const first = skipped
    for (const one of rate.log.slice(first, first + MOST_AT_ONCE)) if (!skipIfOver(one)) break
  }
  const waitUs = atUs - nowUs
  saw(rate, nowUs, record)
  if (mostMs !== '' && waitUs > timeUs(mostMs)) return { kind: 'refused', waitUs }
  // A waiting call may still have to find its grant.
  const kept = rate.log.findIndex((one) => one.atUs + timeUs(keptMs) > nowUs)
  const deleted = Math.min(skipped, kept === -1 ? skipped : kept, MOST_AT_ONCE)
  const gone = rate.log.splice(0, deleted).at(-1)
  if (gone !== undefined) goneUs = gone.atUs + timeUs(keptMs)
  rate.log.push({ id, atUs, cost })
  const keptUs = perMs === keptMs ? atUs : rate.keptUs
  const counts = { used: used + cost, skipped: skipped - deleted }
  Object.assign(rate, counts, { lastUs: atUs, floorUs, goneUs, permits, perMs, keptMs, keptUs })
  // An earlier grant with a longer interval may have to be kept for longer.
  rate.untilMs = Math.max(rate.untilMs, record.nowMs + Math.ceil(waitUs / 1_000) + keptMs + 1)
  return { kind: 'granted', waitUs, atUs }
}

function giveBack(record: OpenRecord, { id, atUs, cost }: RateGrant): void {
  const { rate, nowUs } = open(record)
  const index = rate.log.findLastIndex(
    (one) => one.id === id && one.atUs === atUs && one.cost === cost,
  )
  if (atUs <= nowUs || index === -1) return
  rate.log.splice(index, 1)
  if (index < rate.skipped) rate.skipped -= 1
  else rate.used -= cost
  const lastUs = rate.log.at(-1)?.atUs ?? 0
  // Grants that were skipped only for this grant count again. The other skipped grants are over when the next grant can
  // begin.
  rate.floorUs = rate.goneUs
  while (rate.skipped > 0) {
    const one = rate.log[rate.skipped - 1] as RateGrant
    const untilUs = one.atUs + timeUs(rate.keptMs)
    if (untilUs <= Math.max(lastUs, nowUs)) {
      rate.floorUs = untilUs
      break
    }
    rate.skipped -= 1
    rate.used += one.cost
  }
  rate.lastUs = Math.max(lastUs, rate.floorUs)
}

function reset(record: OpenRecord): void {
  const { rate, nowUs } = open(record)
  const isWaiting = ({ atUs }: RateGrant) => atUs > nowUs
  const deleted = rate.log.length - rate.log.filter(isWaiting).length
  if (deleted === rate.log.length) {
    Object.assign(rate, newState())
    return
  }
  rate.log.splice(0, deleted)
  rate.skipped = Math.max(0, rate.skipped - deleted)
  rate.used = rate.log.slice(rate.skipped).reduce((sum, { cost }) => sum + cost, 0)
}

function inspect(record: OpenRecord): RateFacts {
  const { rate, nowUs } = open(record)
  const { permits, perMs } = rate
  if (permits === 0) return { permits: null, perMs: null, used: 0, waiting: 0, waitUs: 0 }
  let [used, waiting, left] = [0, 0, rate.used]
  let atUs = Math.max(nowUs, rate.lastUs)
  for (const [index, one] of rate.log.entries()) {
    const untilUs = one.atUs + timeUs(perMs)
    if (one.atUs > nowUs) waiting += 1
    else if (untilUs > nowUs) used += one.cost
    if (index < rate.skipped || left + 1 <= permits) continue
    left -= one.cost
    atUs = Math.max(atUs, untilUs)
  }
  return { permits, perMs, used, waiting, waitUs: atUs - nowUs }
}

export const recordRate: RecordKind<(rawName: string) => RemoteRate> =
  ({ store }) =>
  (rawName) => {
    const change = <T>(callMs: number, verb: (record: OpenRecord) => T) =>
      changeRecord(store, rawName, callMs, verb)
    return {
      acquire: (request, callMs) => change(callMs, (record) => acquire(record, request)),
      giveBack: (grant, callMs) => change(callMs, (record) => giveBack(record, grant)),
      inspect: (callMs) => change(callMs, inspect),
      reset: (callMs) => change(callMs, reset),
    }
  }
