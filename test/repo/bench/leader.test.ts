import { startChild } from '../../support/children.ts'

// The measurement runs the built files in dist/.
test('a short measurement of elections runs to its end', async () => {
  const bench = startChild('bench/probes/leader/new-leader.mjs', { args: ['--quick'] })
  const { code } = await bench.exited
  expect({ code, errors: bench.errors }).toEqual({ code: 0, errors: '' })
  expect(bench.all.join('\n')).toMatch(/resign\(\)[\s\S]*observer[\s\S]*SIGKILL/)
})
