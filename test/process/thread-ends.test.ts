import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { WatchdogThread } from '../../src/servers/redis/thread/watchdog-thread.ts'
import { eventually } from '../support/eventually.ts'

/** The program reports which slots it keeps. It frees a slot on request, and throws for the lease `deadly`. */
const PROGRAM = `
import { parentPort } from 'node:worker_threads'
const deadly = new Set()
parentPort.on('message', ({ kind, slot, kept }) => {
  if (kind === 'keep') {
    parentPort.postMessage({ kind: 'away', reason: 'slot ' + slot, refused: false })
    if (kept.lease.rawName === 'deadly') deadly.add(slot)
  } else if (kind === 'forget') {
    if (deadly.has(slot)) throw new Error('it dies')
    parentPort.postMessage({ kind: 'freed', slot })
  }
})
parentPort.postMessage({ kind: 'up' })
`

const folder = mkdtempSync(join(tmpdir(), 'holdfast-thread-'))
afterAll(() => rmSync(folder, { recursive: true }))

function newThread(told: string[]): WatchdogThread {
  const file = join(folder, 'slots.mjs')
  writeFileSync(file, PROGRAM)
  const limits = { commandTimeoutMs: 1_000, silenceLimitMs: 1_000 }
  return new WatchdogThread(
    { host: '127.0.0.1', port: 1 },
    limits,
    ({ message }) => told.push(/slot \d+|it dies/.exec(message)?.[0] ?? message),
    pathToFileURL(file),
  )
}

test('the slots of leases that end around the end of the thread are used again', async () => {
  const told: string[] = []
  const thread = newThread(told)
  const keep = (rawName: string) => {
    const lease = { rawName, ownerId: 'c:o', holds: 1, token: 1 }
    return thread.add(lease, { monotonic: 0, wall: 0 }, 10_000, Infinity)
  }
  try {
    await thread.ready()
    const [first, deadly, kept] = [keep('first'), keep('deadly'), keep('kept')]
    await eventually(() => told.length === 3)
    // The thread ends before it answers.
    deadly.forget()
    await eventually(() => told.includes('it dies'))
    let started: Promise<void> | undefined
    // The thread has ended.
    first.forget()
    await eventually(() => {
      started = thread.ready()
      return started !== undefined
    })
    await started
    await eventually(() => told.length === 5)
    expect(told.splice(0)).toEqual(['slot 0', 'slot 1', 'slot 2', 'it dies', 'slot 2'])
    const again = [keep('fourth'), keep('fifth'), keep('sixth')]
    await eventually(() => told.length === 3)
    expect(told.splice(0).sort()).toEqual(['slot 0', 'slot 1', 'slot 3'])
    for (const one of [...again, kept]) one.forget()
  } finally {
    await thread.terminate()
  }
})
