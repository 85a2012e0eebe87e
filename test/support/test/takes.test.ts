import { loadavg } from 'node:os'
import { setTimeout as pause } from 'node:timers/promises'
import { takes } from '../takes.ts'

jest.mock('node:os', () => ({
  ...jest.requireActual('node:os'),
  availableParallelism: () => 2,
  loadavg: jest.fn(() => [0, 0, 0]),
}))

const load = (...values: number[]) => {
  for (const value of values) jest.mocked(loadavg).mockReturnValueOnce([value, 0, 0])
}

test('takes resolves and rejects as the work does', async () => {
  expect(await takes({ atMost: 5_000 }, Promise.resolve('done'))).toBe('done')
  await expect(takes({}, () => Promise.reject(new Error('no')))).rejects.toThrow('no')
})

test('takes fails if the work is too quick, even if the work fails', async () => {
  const message = /^It took [\d.]+ ms, and at least 1000 ms are promised$/
  await expect(takes({ atLeast: 1_000 }, Promise.resolve())).rejects.toThrow(message)
  await expect(takes({ atLeast: 1_000 }, Promise.reject(new Error('no')))).rejects.toThrow(message)
  await takes({ atLeast: 20 }, () => pause(25))
})

test('takes fails if the work is too slow', async () => {
  const message = /^It took [\d.]+ ms, and at most 20 ms are promised$/
  await expect(takes({ atMost: 20 }, () => pause(300))).rejects.toThrow(message)
})

test('the upper limit follows the load that is measured before or after the work', async () => {
  load(2, 20_000)
  await takes({ atMost: 20 }, () => pause(60))
  load(20_000, 2)
  await takes({ atMost: 20 }, () => pause(60))
})
