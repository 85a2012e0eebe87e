import { isAbsolute } from 'node:path'
import { pathToFileURL } from 'node:url'
import { InvalidArgumentError } from '../errors.ts'
import { show } from '../kit/show.ts'
import { timerMs } from './input.ts'
import { or, shape } from './shape.ts'

export interface WatchdogThreadOptions {
  /**
   * If the main thread is silent for this long, in milliseconds, the worker thread stops its renewals. Otherwise a
   * main thread that hangs forever would keep its locks forever.
   *
   * @default 60_000
   */
  silenceLimitMs?: number
  /**
   * The program of the thread, as an absolute path or a `file:` URL: the file that a bundler made of
   * `holdfast/renewal-worker`.
   *
   * @default the file in the package
   */
  workerUrl?: string | URL
}

/** The option `watchdogThread` after its check, with all defaults. */
export interface ThreadSettings {
  /**
   * If the main thread is silent for this long, in milliseconds, the watchdog thread stops its
   * renewals. Undefined if the client has no watchdog thread.
   */
  readonly silenceLimitMs: number | undefined
  /** The program of the watchdog thread; undefined means the file in the package. */
  readonly workerUrl: URL | undefined
}

/** Checks the option `watchdogThread`, and adds its defaults. */
export function threadOf(thread: unknown): ThreadSettings {
  if (thread === false) return { silenceLimitMs: undefined, workerUrl: undefined }
  const given = thread === true ? {} : thread
  if (typeof given !== 'object' || given === null) {
    throw new InvalidArgumentError(
      `\`watchdogThread\` must be true, false or { silenceLimitMs, workerUrl }; got ${show(thread)}.`,
    )
  }
  return readThread(given)
}

const readThread = shape(
  '`watchdogThread`',
  { silenceLimitMs: or(timerMs, 60_000), workerUrl: fileUrl },
  'watchdogThread.',
)

function fileUrl(file: unknown): URL {
  const text = String(file)
  if (file instanceof URL || typeof file === 'string') {
    if (/^file:/.test(text) && URL.canParse(text)) return new URL(text)
    if (isAbsolute(text)) return pathToFileURL(text)
  }
  throw new InvalidArgumentError(
    `\`watchdogThread.workerUrl\` must be an absolute path or a file: URL; got ${show(file)}.`,
  )
}
