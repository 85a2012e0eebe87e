// Compiles src/ twice, to ES modules and to CommonJS, each with its type declarations. The program is
// an ES module alone, and nobody imports it: it has no declarations.
import { spawnSync } from 'node:child_process'
import { chmodSync, existsSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('..', import.meta.url))
const tsc = `${root}/node_modules/typescript/bin/tsc`

if (!existsSync(tsc)) {
  console.error('dist/ is built with the development dependencies: run npm ci, without --omit=dev.')
  process.exit(1)
}
rmSync(`${root}/dist`, { recursive: true, force: true })
compile('tsconfig.json')
compile('tsconfig.cjs.json')

const program = `${root}/dist/esm/extras/cli`
for (const file of readdirSync(program, { recursive: true, encoding: 'utf8' })) {
  if (file.endsWith('.d.ts')) rmSync(`${program}/${file}`)
}
chmodSync(`${program}/main.js`, 0o755)

// The package is `type: module`; this marks one folder of it as the exception.
writeFileSync(`${root}/dist/cjs/package.json`, '{ "type": "commonjs" }\n')

// `import.meta` is a syntax error in CommonJS, and no expression names the current file in both
// module systems. So the one file that needs it has a hand-written CommonJS counterpart.
const workerUrl = `${root}/dist/cjs/servers/redis/thread/worker-url.js`
if (existsSync(workerUrl)) {
  writeFileSync(
    workerUrl,
    `"use strict";
Object.defineProperty(exports, "__esModule", { value: true });
const { join } = require("node:path");
const { pathToFileURL } = require("node:url");
exports.workerUrl = () => pathToFileURL(join(__dirname, "renewal-worker.js"));
`,
  )
}

function compile(project) {
  const { status } = spawnSync(process.execPath, [tsc, '--project', project], {
    cwd: root,
    stdio: 'inherit',
  })
  if (status !== 0) process.exit(status ?? 1)
}
