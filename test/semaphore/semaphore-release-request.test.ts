import { eventually } from '../support/eventually.ts'
import { describeWorlds, worlds } from '../support/worlds.ts'

const places = worlds.filter(({ name }) => /memory|own client/.test(name))

describeWorlds(
  'a request to release permits',
  (world) => {
    test('the request reaches the holder by the owner id of the permits', async () => {
      const [holder, requester] = [world.newClient(), world.newClient()]
      const semaphore = holder.getPermitExpirableSemaphore('slots')
      await semaphore.trySetPermits(2)
      const permit = await semaphore.acquire({ permits: 2 })
      const { releaseRequested, owner } = permit
      await eventually(
        async () => (await requester.getLock('slots').requestRelease({ owner })) === 1,
      )
      expect(releaseRequested.reason).toMatchObject({
        message: expect.stringMatching(/^Semaphore "slots"/),
      })
      await permit.release()
      await world.server.admin.del('slots')
    })
  },
  places,
)
