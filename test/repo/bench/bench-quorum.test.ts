import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import { startChild } from '../../support/children.ts'

beforeAll(() => {
  if (!existsSync(resolve(__dirname, '../../../dist/esm/src/index.js'))) {
    throw new Error('dist/ is not there: run `npm run build` first')
  }
})

async function run(name: string, ...args: string[]) {
  const bench = startChild(`bench/probes/quorum/${name}.mjs`, { args: ['--quick', ...args] })
  const { code } = await bench.exited
  return { code, said: bench.all.join('\n'), errors: bench.errors }
}

// The measurements run the built files in dist/, always with the ioredis of the package.
describe('short measurements of the quorum', () => {
  test.each([
    ['storm', /^acquisitions +overlaps/m],
    ['latency', /^5, one stopped/m],
    ['contention', /^8, 5 masters/m],
    ['slow-master', /^one stopped, this/m],
  ])(
    'the measurement %s of the quorum runs to its end and finds no violation',
    async (name, heading) => {
      const { code, said, errors } = await run(name)
      // If the measurement fails, its whole output is shown.
      expect({ code, said, errors }).toEqual({ code: 0, said, errors: '' })
      expect(said).toMatch(heading)
    },
  )

  test.each([
    ['amnesia', 'was let in'],
    ['counters', 'came after'],
  ])(
    'the measurement storm finds a violation if the quorum is broken by %s',
    async (broken, finding) => {
      const { code, said, errors } = await run('storm', '--break', broken)
      expect({ code, said, errors }).toEqual({ code: 1, said, errors: '' })
      expect(said).toContain(finding)
    },
  )
})
