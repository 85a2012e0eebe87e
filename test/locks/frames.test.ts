import { AsyncLocalStorage } from 'node:async_hooks'
import { Holdfast } from '../../src/index.ts'

// On Node 20 each one that was ever used makes every promise of the process slower, for good.
test('any number of clients have one AsyncLocalStorage', async () => {
  const runs = jest.spyOn(AsyncLocalStorage.prototype, 'run')
  for (let i = 0; i < 3; i++) {
    const client = new Holdfast({ redis: { port: 1, lazyConnect: true } })
    expect(client.run(() => i)).toBe(i)
    await client.close()
  }
  expect(runs).toHaveBeenCalledTimes(3)
  expect(new Set(runs.mock.contexts).size).toBe(1)
})
