import { spawnSync } from 'node:child_process'
import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/**
 * Runs once, before the workers: makes sure of a native server and leaves them its path.
 * What can be unpacked into the clone's own cache is fetched; in CI packages are installed too.
 * Without a server the run stops here: no test is skipped in silence.
 */
export default function setUp({ rootDir }: { rootDir: string }): void {
  const script = join(rootDir, 'scripts/lib/native-server.mjs')
  const args = [script, '--json', process.env.CI === 'true' ? '--install' : '--fetch']
  const { stdout } = spawnSync(process.execPath, args, {
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  if (!stdout) throw new Error('The tests need a native Redis or Valkey server; see above')
  const server = JSON.parse(stdout)
  Object.assign(process.env, server.env)
  process.env.HOLDFAST_REDIS_SERVER = server.path
  process.env.HOLDFAST_REDIS_VERSION = server.version
  process.env.HOLDFAST_TEST_DIR = mkdtempSync(join(tmpdir(), 'holdfast-test-'))
}
