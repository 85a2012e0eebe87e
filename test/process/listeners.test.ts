import type { HoldfastEvents } from '../../src/index.ts'
import { startChild } from '../support/children.ts'
import { faultRig, SHA } from '../support/fault-rig.ts'

/** Listeners that throw: the error belongs to the program, and must not disturb locks. */
const rig = faultRig()

function work(event: keyof HoldfastEvents, handled: 'handled' | '') {
  const file = 'test/process/fixtures/throwing.mjs'
  const child = startChild(file, { args: [String(rig.proxy.port), event, handled] })
  child.send('go')
  return child
}

const cutTheNextRenewal = () => {
  rig.proxy.onNextRequest(SHA.renew, 'cutAfter')
}

interface Throwing {
  event: keyof HoldfastEvents
  /** Causes the event if the child process cannot cause it. */
  cause?: () => void
}

const events: Throwing[] = [
  { event: 'acquired' },
  { event: 'released' },
  { event: 'wait' },
  { event: 'renewed' },
  { event: 'late', cause: cutTheNextRenewal },
  { event: 'lost' },
  { event: 'error', cause: () => rig.proxy.refuse() },
]

test.each(events)(
  'locks continue when a listener of $event throws, and the program receives the error',
  async ({ event, cause }) => {
    cause?.()
    const child = work(event, 'handled')
    if (event === 'error') {
      await child.next<{ uncaught?: string }>(({ uncaught }) => uncaught !== undefined)
      await rig.proxy.heal()
    }
    const { done } = await child.next<{ done?: number[] }>(({ done }) => done !== undefined)
    expect(done).toEqual([...new Set(done)].sort((a, b) => a - b))
    const told = child.all.filter((message) => 'event' in (message as object))
    expect(told.length).toBeGreaterThan(0)
    // The second listener is called after the listener that throws.
    const later = child.all.filter((message) => 'later' in (message as object))
    expect(later).toEqual(told.map(() => ({ later: event })))
    const others = child.all
      .filter((message) => !('event' in (message as object)) && !('later' in (message as object)))
      .slice(0, -1)
    expect(others).toEqual(told.map(() => ({ uncaught: `A listener of "${event}"` })))
    expect(await rig.exists('it')).toBe(false)
  },
)

test('a listener that throws ends a program that does not handle the error, like any exception', async () => {
  const child = work('acquired', '')
  expect(await child.exited).toEqual({ code: 1, signal: null })
  expect(child.errors).toContain('A listener of "acquired"')
  // The program ended between its first acquisition and the release.
  await rig.server.admin.del('it')
})
