import { startChild } from '../../support/children.ts'

// The program runs the built files in dist/.
test('a short comparison of a build with itself prints the ratio of each scenario', async () => {
  const bench = startChild('bench/probes/lock/two-builds.mjs', { args: ['.', '--quick'] })
  const { code } = await bench.exited
  expect({ code, errors: bench.errors }).toEqual({ code: 0, errors: '' })
  const lines = bench.all.join('\n').match(/ratio of time \d+\.\d{3}, of CPU \d+\.\d{3}$/gm)
  expect(lines).toHaveLength(10)
})
