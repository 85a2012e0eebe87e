// Makes what is made of lua/*.lua: the module that src/ imports, and the headers in lua/README.md.
//
//   node scripts/lua.mjs [--check]
//
// With --check it writes nothing, and fails where something is out of date.
import { spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'

// The first says what is wrong with a header that the second could not read.
const isDone = ['build-lua.mjs', 'quote-lua-headers.mjs'].every((program) => {
  const args = [fileURLToPath(new URL(program, import.meta.url)), ...process.argv.slice(2)]
  return spawnSync(process.execPath, args, { stdio: 'inherit' }).status === 0
})
process.exitCode = isDone ? 0 : 1
