import os from 'node:os'
import { atLoad } from '../at-load.ts'

test.each([
  [0, 1_000, 1_000],
  [4, 1_000, 4_000],
  [4, 60_000, 120_000],
  [4, 150_000, 150_000],
])('with a load of %d for each core, a limit of %d ms is %d ms', (load, ms, limit) => {
  const cores = os.availableParallelism()
  jest.spyOn(os, 'loadavg').mockReturnValue([load * cores, 0, 0])
  expect(atLoad(ms)).toBe(limit)
  jest.restoreAllMocks()
})
