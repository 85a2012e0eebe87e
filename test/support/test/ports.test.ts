import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'

const workersFile = resolve(__dirname, '../../../scripts/lib/workers.mjs')

const before = process.env.HOLDFAST_PORTS_OF

afterEach(() => {
  if (before === undefined) delete process.env.HOLDFAST_PORTS_OF
  else process.env.HOLDFAST_PORTS_OF = before
})

/** Returns a port that a worker of Jest gives to a test. */
async function portOf(worker: number): Promise<number> {
  process.env.HOLDFAST_PORTS_OF = String(worker)
  let port = Promise.resolve(0)
  jest.isolateModules(() => {
    port = (require('../ports.ts') as typeof import('../ports.ts')).freePort()
  })
  return port
}

test('each worker of the largest run has ports that no other worker gives', async () => {
  const [, most] = /Math\.min\((\d+), /.exec(readFileSync(workersFile, 'utf8')) ?? []
  const workers = Number(most)
  expect(workers).toBeGreaterThan(0)
  const shares: number[] = []
  for (let worker = 1; worker <= workers; worker++) {
    const port = await portOf(worker)
    shares.push(Math.floor((port - 10_000) / Math.floor(10_000 / workers)))
  }
  expect(new Set(shares).size).toBe(workers)
})
