import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import { startChild } from '../../support/children.ts'

beforeAll(() => {
  if (!existsSync(resolve(__dirname, '../../../dist/esm/src/index.js'))) {
    throw new Error('dist/ is not there: run `npm run build` first')
  }
})

// The measurements run the built files in dist/, always with the ioredis of the package.
describe('short measurements of the fair lock', () => {
  test.each([
    ['order', /^grants/],
    ['dead-waiters', /^SIGKILLed ahead/],
    ['frozen-head', /^head frozen for/],
    ['cut-inbox', /^the inbox was/],
    ['abort-race', /^races/],
    ['hand-over', /^waiting processes/],
    ['long-queue', /^waiters/],
  ])(
    'the measurement %s of the fair lock runs to its end and finds no violation',
    async (name, heading) => {
      const bench = startChild(`bench/probes/fair/${name}.mjs`, { args: ['--quick'] })
      const { code } = await bench.exited
      const said = bench.all.join('\n')
      // If the measurement fails, its whole output is shown.
      expect({ code, said, errors: bench.errors }).toEqual({ code: 0, said, errors: '' })
      expect(bench.all).toContainEqual(expect.stringMatching(heading))
    },
  )
})
