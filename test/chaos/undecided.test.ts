import { isClean, isOnlyUndecided } from '../../programs/chaos/report.mjs'

const result = (verdicts: string[], more = {}) => ({
  verdict: { overlaps: [], regressions: [], repeated: [] },
  violations: [],
  report: {
    unexplained: verdicts.map((verdict) => ({ verdict })),
    convictions: { linearizability: verdicts.length, rounds: 0 },
  },
  ...more,
})

test('a run with undecided histories and no other finding is only undecided', () => {
  expect(isOnlyUndecided(result(['undecided', 'undecided']))).toBe(true)
  expect(isClean(result(['undecided']))).toBe(false)
})

test.each([
  ['a run without findings', result([])],
  ['a run with a convicted history', result(['undecided', 'convicted'])],
  ['a run with another violation', result(['undecided'], { violations: ['a key is left'] })],
])('%s is not only undecided', (_, one) => {
  expect(isOnlyUndecided(one)).toBe(false)
})
