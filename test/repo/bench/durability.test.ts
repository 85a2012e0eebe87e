import { startChild } from '../../support/children.ts'

// The measurement runs the built files in dist/.
test('a short measurement of durability runs to its end', async () => {
  const bench = startChild('bench/probes/durability/acquire.mjs', { args: ['--quick'] })
  const { code } = await bench.exited
  expect({ code, errors: bench.errors }).toEqual({ code: 0, errors: '' })
  expect(bench.all.join('\n')).toMatch(/off[\s\S]*1 replica[\s\S]*all \(2 replicas\)/)
})
