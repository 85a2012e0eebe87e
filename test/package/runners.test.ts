import { once } from 'node:events'
import { cpSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { spawnDyingWithParent } from '../support/die-with-parent.ts'

const root = resolve(__dirname, '../..')
const RUNNERS: Record<string, string[]> = {
  Jest: ['node_modules/jest/bin/jest.js', '--config', '{"transform":{}}', 'jest.test.cjs'],
  Vitest: ['node_modules/vitest/vitest.mjs', 'run', 'vitest.test.mjs'],
  'node:test': ['--test', '--test-reporter=tap', 'node.test.mjs'],
}

let dir: string
beforeAll(() => {
  dir = mkdtempSync(join(tmpdir(), 'holdfast-runners-'))
  cpSync(join(root, 'examples/testing'), dir, { recursive: true })
  writeFileSync(join(dir, 'package.json'), '{ "private": true }')
  mkdirSync(join(dir, 'node_modules'))
  symlinkSync(root, join(dir, 'node_modules/holdfast'))
  for (const name of ['ioredis', 'jest', 'vitest']) {
    symlinkSync(join(root, 'node_modules', name), join(dir, 'node_modules', name))
  }
})
afterAll(() => rmSync(dir, { recursive: true, force: true }))

test.each(Object.entries(RUNNERS))(
  'the example for %s passes with all its tests, and ends by itself',
  async (_, args) => {
    const child = spawnDyingWithParent(process.execPath, args, {
      cwd: dir,
      env: { ...process.env, NODE_OPTIONS: '', NO_COLOR: '1' },
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    let output = ''
    for (const stream of [child.stdout, child.stderr]) {
      stream?.setEncoding('utf8').on('data', (text: string) => {
        output += text
      })
    }
    const timer = setTimeout(() => child.kill('SIGKILL'), 100_000)
    const [code] = await once(child, 'close')
    clearTimeout(timer)
    expect({ code, output }).toEqual({
      code: 0,
      output: expect.stringMatching(/\b6 pass|pass 6\b/),
    })
  },
)
