import {
  InvalidArgumentError,
  ReleaseRequestedError,
  ResignedError,
  type Term,
} from '../../src/index.ts'
import { deferred } from '../support/deferred.ts'
import { eventually } from '../support/eventually.ts'
import { describeWorlds, worlds } from '../support/worlds.ts'

const places = worlds.filter(({ name }) => /memory|own client/.test(name))

describeWorlds(
  'a release request to a leader',
  (world) => {
    const until = (signal: AbortSignal) =>
      new Promise<void>((resolve) => {
        if (signal.aborted) resolve()
        else signal.addEventListener('abort', () => resolve(), { once: true })
      })
    const asked = async (name: string) => {
      const lock = world.newClient({ label: 'operator' }).getFairLock(name)
      await eventually(async () => (await lock.requestRelease({ reason: 'an upgrade' })) === 1)
    }

    test('aborts the signal `releaseRequested` of its term, and the term continues', async () => {
      const election = world.newClient().getLeaderElection('jobs')
      const led = deferred<Term>()
      const leading = election.lead(async (term) => {
        led.resolve(term)
        await until(term.releaseRequested)
        const { reason } = term.releaseRequested
        expect(reason).toBeInstanceOf(ReleaseRequestedError)
        expect(reason).toMatchObject({ reason: 'an upgrade', by: { label: 'operator' } })
        expect([term.valid, term.signal.aborted, election.isLeading]).toEqual([true, false, true])
        return 'done'
      })
      await led.promise
      await asked('jobs')
      expect(await leading).toBe('done')
    })

    test('makes the leader resign with `resignOnRequest`, and the next candidate leads', async () => {
      const first = world.newClient().getLeaderElection('jobs')
      const next = world.newClient().getLeaderElection('jobs')
      const reasons: unknown[] = []
      const leading = first.lead(
        async ({ signal }) => {
          await until(signal)
          reasons.push(signal.reason)
        },
        { resignOnRequest: true, again: true },
      )
      await eventually(() => first.isLeading)
      const leads = deferred<void>()
      const following = next.lead(() => leads.resolve())
      await asked('jobs')
      await leading
      await leads.promise
      await following
      expect(reasons).toEqual([expect.any(ResignedError)])
      expect(first.isLeading).toBe(false)
    })

    test('emits the `releaseRequested` event of the client', async () => {
      const client = world.newClient()
      const events: unknown[] = []
      client.on('releaseRequested', (event) => events.push(event))
      const election = client.getLeaderElection('jobs', { label: 'a' })
      const over = deferred<void>()
      const leading = election.lead(() => over.promise)
      await eventually(() => election.isLeading)
      await asked('jobs')
      expect(events).toMatchObject([{ name: 'jobs', reason: 'an upgrade' }])
      over.resolve()
      await leading
    })

    test('`resignOnRequest` must be true or false', async () => {
      const election = world.newClient().getLeaderElection('jobs')
      await expect(
        election.lead(() => {}, { resignOnRequest: 'yes' as never }),
      ).rejects.toBeInstanceOf(InvalidArgumentError)
    })
  },
  places,
)
