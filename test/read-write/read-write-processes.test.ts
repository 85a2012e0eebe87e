import { setTimeout as pause } from 'node:timers/promises'
import { type Child, startChild } from '../support/children.ts'
import { eventually } from '../support/eventually.ts'
import { faultRig, within } from '../support/fault-rig.ts'
import { leaves } from '../support/leaks.ts'

const rig = faultRig()
const LEASE_MS = 600

interface Visit {
  readonly id: string
  readonly side: 'read' | 'write'
  readonly token: number
  readonly atMs: number
}

/** The time in which a process held the lock, as far as it has reported. */
interface Stay extends Omit<Visit, 'atMs'> {
  readonly fromMs: number
  untilMs: number
}

const started: Child[] = []
const start = (broken = '') => {
  const args = [rig.server.url, String(LEASE_MS), broken]
  const child = startChild('test/read-write/fixtures/reader-or-writer.mjs', { args })
  started.push(child)
  return child
}

beforeEach(() => {
  started.length = 0
})

function stays(): Stay[] {
  const all = new Map<string, Stay>()
  for (const { id, side, token, atMs } of started.flatMap((child) => child.all as Visit[])) {
    if (id === undefined) continue
    const stay = all.get(id) ?? { id, side, token, fromMs: atMs, untilMs: atMs }
    stay.untilMs = atMs
    all.set(id, stay)
  }
  return [...all.values()].sort((a, b) => a.fromMs - b.fromMs)
}

/**
 * Returns violations of three rules: writers exclude all others, their tokens rise, and no reader has a token below the
 * last writer's token.
 */
function violations(all: readonly Stay[]): string[] {
  const found: string[] = []
  let lastToken = 0
  for (const [i, stay] of all.entries()) {
    const writes = stay.side === 'write'
    for (const other of all.slice(0, i)) {
      if (other.untilMs < stay.fromMs || (!writes && other.side === 'read')) continue
      found.push(`${stay.side} ${stay.id} was let in beside ${other.side} ${other.id}`)
    }
    if (writes ? stay.token <= lastToken : stay.token < lastToken) {
      found.push(`${stay.side} ${stay.id} has token ${stay.token} after ${lastToken}`)
    }
    lastToken = Math.max(lastToken, writes ? stay.token : 0)
  }
  return found
}

test('no owner reads or writes beside a writer while processes are killed or stopped', async () => {
  leaves({ keys: true, why: 'who was killed while it waited counts for a while' })
  const crew = [1, 2, 3, 4].map(() => start())
  const pick = () => crew[Math.floor(Math.random() * crew.length)] as Child
  const endsAt = performance.now() + 4_000
  await Promise.all(crew.map((child) => child.next()))
  for (let i = 0; performance.now() < endsAt; i++) {
    const child = pick()
    if (i % 3 === 0) {
      child.kill('SIGKILL')
      await child.exited
      crew[crew.indexOf(child)] = start()
    } else {
      child.kill('SIGSTOP')
      // The stop is shorter or longer than the lease.
      await pause(Math.random() * 2 * LEASE_MS)
      child.kill('SIGCONT')
    }
    await pause(Math.random() * 100)
  }
  for (const child of crew) child.kill('SIGKILL')
  await Promise.all(started.map((child) => child.exited))
  // The holds of dead processes last for a lease, and the places of their waiters count for 3 s.
  const lock = rig.witness().getReadWriteLock('it')
  await (await within(8_000, lock.writeLock().lock())).release()

  expect(violations(stays())).toEqual([])
  // On a busy machine, most of the time is needed to start processes.
  expect(stays().length).toBeGreaterThan(3)
})

test('the same check finds violations of a broken lock that lets writers in beside readers', async () => {
  const crew = [start('broken'), start('broken')]
  await within(10_000, Promise.all(crew.map((child) => child.next())))
  const isFound = (violation: RegExp) => violations(stays()).some((one) => violation.test(one))
  await eventually(() => isFound(/was let in beside/) && isFound(/has token/), { everyMs: 50 })
  for (const child of crew) child.send('over')
  await Promise.all(crew.map((child) => child.exited))
})
