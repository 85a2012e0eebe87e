import { startChild } from '../../support/children.ts'

// The program runs what is built.
test('a short comparison of a build with itself prints the ratio of each scenario', async () => {
  const bench = startChild('bench/probes/lock/two-builds.mjs', { args: ['.', '--quick'] })
  const { code } = await bench.exited
  expect({ code, errors: bench.errors }).toEqual({ code: 0, errors: '' })
  const lines = bench.all.filter((line) =>
    /ratio of time \d+\.\d{3}, of CPU \d+\.\d{3}$/.test(line),
  )
  expect(lines).toHaveLength(10)
})
