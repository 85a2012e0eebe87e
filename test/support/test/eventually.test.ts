import { eventually, eventuallyPasses, never } from '../eventually.ts'

test('eventually resolves with the first truthy value', async () => {
  let looks = 0
  expect(await eventually(() => ++looks > 3 && 'seen')).toBe('seen')
  expect(await eventually(async () => 1)).toBe(1)
})

test('eventually ignores errors until the condition holds, and reports the last error or value', async () => {
  let looks = 0
  await eventuallyPasses(() => expect(++looks).toBe(3))
  const failing = () => Promise.reject(new Error('no luck'))
  await expect(eventually(failing, { timeoutMs: 20, message: 'luck' })).rejects.toThrow(
    'Waited 20 ms in vain for luck (last error: no luck)',
  )
  await expect(eventually(() => 0, { timeoutMs: 20 })).rejects.toThrow('last value: 0')
})

test('eventually gives up on a condition that hangs', async () => {
  const hanging = () => new Promise<boolean>(() => undefined)
  await expect(eventually(hanging, { timeoutMs: 20 })).rejects.toThrow('hung')
})

test('never watches for the whole time', async () => {
  const start = performance.now()
  await never(() => false, 40)
  expect(performance.now() - start).toBeGreaterThanOrEqual(40)
  let looks = 0
  await expect(never(() => ++looks > 3 && 'late', 5_000)).rejects.toThrow('late')
})
