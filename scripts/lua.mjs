// Generates from the scripts in lua/: the modules that src/ and tools/ import, and the headers in lua/README.md.
//
//   node scripts/lua.mjs [--check]
//
// With --check it writes nothing, and fails if a file is out of date.
import { spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'

// The first program reports errors in headers that the second program could not read.
const isDone = ['build-lua.mjs', 'quote-lua-headers.mjs'].every((program) => {
  const args = [fileURLToPath(new URL(program, import.meta.url)), ...process.argv.slice(2)]
  return spawnSync(process.execPath, args, { stdio: 'inherit' }).status === 0
})
process.exitCode = isDone ? 0 : 1
