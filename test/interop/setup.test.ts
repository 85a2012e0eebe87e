import { spawnSync } from 'node:child_process'
import { chmodSync, mkdirSync, mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'

const root = resolve(__dirname, '..', '..')

/** Runs the interop tests in an environment whose only programs are these shell scripts. */
function runWith(programs: Record<string, string>) {
  const bin = mkdtempSync(join(process.env.HOLDFAST_TEST_DIR ?? tmpdir(), 'bin-'))
  mkdirSync(bin, { recursive: true })
  for (const [name, lines] of Object.entries(programs)) {
    writeFileSync(join(bin, name), `#!/bin/sh\n${lines}\n`)
    chmodSync(join(bin, name), 0o755)
  }
  // This release was never built, so Maven is needed.
  const args = ['scripts/test-interop.mjs', '--redisson', '3.0.0']
  const env = { ...process.env, PATH: bin }
  return spawnSync(process.execPath, args, { cwd: root, env, encoding: 'utf8' })
}

test.each([
  ['no JVM and no Maven', {}, 'java, javac, mvn'],
  ['a JVM without a compiler', { java: 'echo openjdk 21.0.1', mvn: 'true' }, 'javac'],
  [
    'a JVM that is too old',
    { java: 'echo openjdk 11.0.2', javac: 'echo javac 11.0.2', mvn: 'true' },
    'java, javac',
  ],
  ['no Maven', { java: 'echo openjdk 21.0.1', javac: 'echo javac 21.0.1' }, 'mvn'],
])('with %s the command says what to install, and fails', (_, programs, missing) => {
  const { status, stderr } = runWith(programs)
  expect(status).toBe(1)
  expect(stderr).toContain(`Not found, or too old: ${missing}.`)
  expect(stderr).toMatch(/JDK 17 or later and Maven.*Type: {2}\S+ /)
})

test('when Maven fails, the command prints the words of Maven, and fails', () => {
  const { status, stderr } = runWith({
    java: 'echo openjdk 17.0.1',
    javac: 'echo javac 17.0.1',
    mvn: 'test "$1" = -v || { echo "[ERROR] no route to anywhere"; exit 1; }',
  })
  expect(status).toBe(1)
  expect(stderr).toContain('no route to anywhere')
})

test('an invalid line or release of Redisson is refused', () => {
  const args = ['scripts/test-interop.mjs', '--redisson', 'newest']
  const { status, stderr } = spawnSync(process.execPath, args, { cwd: root, encoding: 'utf8' })
  expect(status).toBe(2)
  expect(stderr).toContain('usage: npm run test:interop')
})
