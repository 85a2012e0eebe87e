#!/usr/bin/env node
import { readFileSync } from 'node:fs'
import { EXIT } from './command/command.ts'
import { run } from './run.ts'

const { stdout, stderr, env, argv } = process
const manifest = new URL('../../../../package.json', import.meta.url)
const { version } = JSON.parse(readFileSync(manifest, 'utf8')) as { version: string }

// A reader that has seen enough, as `head` has, is no failure.
stdout.on('error', ({ code }: NodeJS.ErrnoException) => {
  if (code !== 'EPIPE') process.exitCode = EXIT.failed
})

const terminal = {
  out: (text: string) => void stdout.write(text),
  err: (text: string) => void stderr.write(text),
  env,
  isTerminal: stdout.isTTY === true,
  columns: stdout.columns ?? 100,
}

try {
  process.exitCode = await run(argv.slice(2), terminal, version)
} catch (error) {
  stderr.write(`This is a defect of Holdfast: ${(error as Error).stack}\n`)
  process.exitCode = EXIT.failed
}
