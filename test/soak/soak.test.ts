import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startChild } from '../support/children.ts'

let into: string
beforeEach(() => {
  into = mkdtempSync(join(tmpdir(), 'soak-'))
})
afterEach(() => rmSync(into, { recursive: true }))

/** Runs it for a few seconds with faults. */
async function soak(minutes: number, ...args: string[]) {
  const short = ['--minutes', `${minutes}`, '--every', '1', '--pause', '20', '--seed', '11']
  const child = startChild('programs/soak/run.mjs', { args: [...short, ...args] })
  const { code } = await child.exited
  return { code, said: child.all.join('\n') + child.errors }
}

test('the services of a soak are measured, judged and drawn', async () => {
  const file = (name: string) => join(into, name)
  const to = ['--samples', file('a'), '--plot', file('b'), '--report', file('c')]
  const { said } = await soak(0.15, ...to)
  // Growth within seconds is no leak, so this run may find some.
  expect(said).toMatch(
    /^soak, seed 11: .*, [1-9]\d+ operations, \d+ failed, \d+ faults, 0 unexpected$/m,
  )
  expect(readFileSync(file('b'), 'utf8')).toMatch(
    /^<svg [\s\S]*heap, MB[\s\S]*class="line l1"[\s\S]*<\/svg>\n$/,
  )
  expect(readFileSync(file('c'), 'utf8')).toMatch(/^\| keys \| \d+ \| \d+ \|/m)

  const again = await startChild('programs/soak/run.mjs', { args: ['--from', file('a')] }).exited
  expect(again.code).toBe(said.includes('NOT GOOD') ? 1 : 0)
})

test('a service that leaks memory is detected', async () => {
  const { code, said } = await soak(0.25, '--leak')
  expect(said).toMatch(/^GREW {2}heap, service 1/m)
  expect(code).toBe(1)
})
