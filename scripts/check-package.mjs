// Checks the package as npm packs it: its entry points (publint) and its types in each module system (attw).
import { spawnSync } from 'node:child_process'
import { env, exit } from 'node:process'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('..', import.meta.url))

/**
 * The environment without `npm_config_dry_run`, which `npm publish --dry-run` sets for its scripts. With this
 * variable, `npm pack` writes no tarball, so attw would find no tarball.
 */
const environment = Object.fromEntries(
  Object.entries(env).filter(([name]) => name.toLowerCase() !== 'npm_config_dry_run'),
)

for (const command of ['publint --strict', 'attw --pack .']) {
  const { status } = spawnSync(`npx --no-install ${command}`, {
    cwd: root,
    env: environment,
    stdio: 'inherit',
    shell: true,
  })
  if (status !== 0) exit(status ?? 1)
}
