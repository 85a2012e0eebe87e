import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import { startChild } from '../../support/children.ts'

beforeAll(() => {
  if (!existsSync(resolve(__dirname, '../../../dist/esm/src/index.js'))) {
    throw new Error('dist/ is not there: run `npm run build` first')
  }
})

// The measurements run the built files in dist/, always with the ioredis of the package.
describe('short measurements of the read-write lock', () => {
  test.each([
    ['readers', /^4 +Holdfast +[1-9]/],
    ['writer-wait', /^Holdfast, Holdfast +[0-9.]+ /],
    ['grants', /^2, processes +[1-9]/],
    ['beside-readers', /^10 +[1-9]/],
  ])(
    'the measurement %s of the read-write lock runs to its end and finds no violation',
    async (name, line) => {
      const bench = startChild(`bench/probes/read-write/${name}.mjs`, { args: ['--quick'] })
      const { code } = await bench.exited
      const said = bench.all.join('\n')
      // If the measurement fails, its whole output is shown.
      expect({ code, said, errors: bench.errors }).toEqual({ code: 0, said, errors: '' })
      expect(bench.all).toContainEqual(expect.stringMatching(line))
    },
  )
})
