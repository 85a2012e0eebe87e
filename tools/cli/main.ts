#!/usr/bin/env node
import { readFileSync } from 'node:fs'
import { createInterface } from 'node:readline'
import { EXIT } from './command/command.ts'
import { run } from './run.ts'

const { stdin, stdout, stderr, env, argv } = process
const manifest = new URL('../../../../package.json', import.meta.url)
const { version } = JSON.parse(readFileSync(manifest, 'utf8')) as { version: string }

const interruption = new AbortController()

// A reader such as `head` may close the output early, which is not a failure.
stdout.on('error', ({ code }: NodeJS.ErrnoException) => {
  if (code !== 'EPIPE') process.exitCode = EXIT.failed
  interruption.abort()
})

const terminal = {
  out: (text: string) => void stdout.write(text),
  err: (text: string) => void stderr.write(text),
  env,
  isTerminal: stdout.isTTY === true,
  // The size is read each time, because the user may resize the window.
  get columns() {
    return stdout.columns ?? 100
  },
  get rows() {
    return stdout.rows ?? 24
  },
  interrupted() {
    // Each listener runs once, so a second Ctrl-C ends the program.
    for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => interruption.abort())
    return interruption.signal
  },
  prompt: stdin.isTTY && stderr.isTTY ? prompt : undefined,
}

/** Asks on stderr, so that the user sees the question even if the output is redirected. */
function prompt(question: string): Promise<string> {
  const lines = createInterface({ input: stdin, output: stderr })
  return new Promise<string>((resolve) => {
    // Ctrl-C and Ctrl-D close the interface, which counts as an empty answer.
    lines.once('close', () => resolve(''))
    lines.question(question, resolve)
  }).finally(() => lines.close())
}

try {
  process.exitCode = await run(argv.slice(2), terminal, version)
} catch (error) {
  stderr.write(
    `This is a defect of Holdfast. Report it with this text: ${(error as Error).stack}\n`,
  )
  process.exitCode = EXIT.failed
}
