import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Past, PastQuestion } from '../../tools/dashboard/handler/past.ts'
import { PastAnswers } from '../../tools/dashboard/handler/past-answers.ts'
import { eventually } from '../support/eventually.ts'

const VIEW = { minutes: 5, key: null, filter: '' }

function start() {
  const asked: PastQuestion[] = []
  const past = { source: 'poll', lanes: [] } as unknown as Past
  const answer = (question: PastQuestion) => {
    asked.push(question)
    return past
  }
  return { asked, past, answer, answers: new PastAnswers(async () => answer) }
}

test('viewers with the same question share an answer, which is renewed after a second', async () => {
  const { asked, past, answers } = start()
  const texts = await Promise.all(Array.from({ length: 30 }, () => answers.of(VIEW)))
  expect(new Set(texts)).toEqual(new Set([JSON.stringify(past)]))
  expect(asked).toHaveLength(1)
  const [first] = asked as [PastQuestion]
  expect(first.now - first.from).toBe(300_000)
  await eventually(async () => {
    await answers.of(VIEW)
    return asked.length === 2
  })
  expect((asked[1] as PastQuestion).now - first.now).toBeGreaterThanOrEqual(950)
})

test('different questions get different answers, each in its own turn of the event loop', async () => {
  const { asked, answers } = start()
  const views = [
    VIEW,
    { ...VIEW, minutes: 15 },
    { ...VIEW, key: 'a' },
    { ...VIEW, key: 'b' },
    { ...VIEW, filter: 'a' },
  ]
  const perTurn: number[] = []
  const all = Promise.all(views.map((view) => answers.of(view)))
  while (asked.length < views.length) {
    const before = asked.length
    await nextTurn()
    perTurn.push(asked.length - before)
  }
  await all
  expect(Math.max(...perTurn)).toBe(1)
})

test('a slow source is asked once for each question, and delays no other question', async () => {
  const { answer } = start()
  let [calls, open] = [0, () => {}]
  const gate = new Promise<void>((resolve) => {
    open = resolve
  })
  const answers = new PastAnswers(async () => {
    if (calls++ === 0) await gate
    return answer
  })
  const slow = [answers.of(VIEW), answers.of(VIEW)]
  await answers.of({ ...VIEW, key: 'a' })
  expect(calls).toBe(2)
  open()
  await Promise.all(slow)
  expect(calls).toBe(2)
})

test('a failed answer does not stop the answers behind it, and its question is answered a second later', async () => {
  let isBroken = true
  const { answer } = start()
  const answers = new PastAnswers(async () => (question) => {
    if (isBroken && question.key === null) throw new Error('broken')
    return answer(question)
  })
  const failing = answers.of(VIEW)
  const behind = answers.of({ ...VIEW, key: 'a' })
  await expect(failing).rejects.toThrow('broken')
  await expect(behind).resolves.toContain('poll')
  isBroken = false
  const later = performance.now() + 1_001
  const now = jest.spyOn(performance, 'now').mockReturnValue(later)
  try {
    await expect(answers.of(VIEW)).resolves.toContain('poll')
  } finally {
    now.mockRestore()
  }
})
