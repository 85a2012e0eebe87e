import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import { startChild } from '../../support/children.ts'

beforeAll(() => {
  if (!existsSync(resolve(__dirname, '../../../dist/esm/src/index.js'))) {
    throw new Error('dist/ is not there: run `npm run build` first')
  }
})

// The measurement runs the built files in dist/, always with the ioredis of the package.
test('a short measurement of several locks runs to its end and finds no violation', async () => {
  const bench = startChild('bench/probes/multi/all-or-none.mjs', { args: ['--quick'] })
  const { code } = await bench.exited
  const said = bench.all.join('\n')
  // If the measurement fails, its whole output is shown.
  expect({ code, said, errors: bench.errors }).toEqual({ code: 0, said, errors: '' })
  expect(bench.all).toContainEqual(expect.stringMatching(/^two servers, random orders +40 /))
})

test('a short measurement of waiters for several locks runs to its end', async () => {
  const args = ['waits', '--quick', '--only', 'each wanted']
  const bench = startChild('bench/probes/multi/all-or-none.mjs', { args })
  const { code } = await bench.exited
  const said = bench.all.join('\n')
  expect({ code, said, errors: bench.errors }).toEqual({ code: 0, said, errors: '' })
  expect(bench.all).toContainEqual(expect.stringMatching(/^here 1: b\+c\+d +1 +[1-9]/))
})
