import { CallFailure, OddAnswer } from '../call-failure.ts'
import { type Answer, Batch } from './batch.ts'
import type { Connection } from './connection.ts'
import { runScript } from './evalsha.ts'
import type { Client } from './open-client.ts'
import { whole } from './scripts/reading.ts'
import type { Args, Read, Script } from './scripts/script.ts'
import type { Terms } from './scripts/terms.ts'
import type { ServerClock } from './server-clock.ts'
import { ConnectionTerms } from './terms.ts'

/** Scripts on one server, some of which must not run after those who sent them have given up. */
export class ScriptRunner {
  readonly #connection: Connection
  readonly #clock: ServerClock
  readonly #terms: ConnectionTerms
  readonly #batch = new Batch(
    (script, keys, args, endsAt, read) => this.#run(script, keys, args, endsAt, read),
    (failure) => this.#connection.heard(failure),
  )

  /** @param counterMs how long a token counter outlives its last use, in milliseconds; 0 keeps it for good */
  constructor(connection: Connection, clock: ServerClock, counterMs: number) {
    this.#connection = connection
    this.#clock = clock
    this.#terms = new ConnectionTerms(connection, counterMs)
  }

  /** What the scripts are told that have no time of their own. Some is known only when it is sent. */
  get terms(): Omit<Terms, 'notAfterUs'> {
    return this.#terms
  }

  /** The id of the server's process; '' when it does not tell. */
  get runId(): string {
    return this.#connection.runId
  }

  get clustered(): boolean {
    return this.#connection.clustered
  }

  /** A command that is not of the locks. */
  raw<T>(timeoutMs: number, send: (client: Client) => Promise<T>): Promise<T> {
    return this.#connection.call(timeoutMs, send)
  }

  /** @param args called when they can be told; only then it is known how to publish */
  run<T>(
    script: Script,
    keys: readonly string[],
    args: () => Args,
    timeoutMs: number,
    read: Read<T>,
  ): Promise<T> {
    this.#batch.sendBefore(keys)
    return runScript(this.#connection, script, keys, args, timeoutMs, read)
  }

  /**
   * Tells the script until when it may run; where the clocks had come apart, tells it once more.
   *
   * @param read gets every answer but "late"
   * @param asksAgain false where what is asked for may be another thing by then
   */
  runInTime<T>(
    script: Script,
    keys: readonly string[],
    args: (terms: Terms) => Args,
    timeoutMs: number,
    read: (answer: Answer) => T,
    asksAgain = true,
  ): Promise<T> {
    const now = performance.now()
    return this.#timed(script, keys, args, now, now + timeoutMs, read, asksAgain)
  }

  #timed<T>(
    script: Script,
    keys: readonly string[],
    args: (terms: Terms) => Args,
    startedAt: number,
    endsAt: number,
    read: (answer: Answer) => T,
    asksAgain: boolean,
    again = false,
  ): Promise<T> {
    const heard = (reply: unknown) => {
      const answer = reply as Answer
      if (answer[0] !== 'late') return read(answer)
      const now = performance.now()
      this.#clock.heard(whole(answer[1], 1), startedAt)
      if (now >= endsAt || !asksAgain)
        throw new CallFailure('unsent', 'it came too late to be done')
      if (!again) return this.#timed(script, keys, args, now, endsAt, read, asksAgain, true)
      // One that is late for ever may do what it says that it does not.
      throw new OddAnswer(script.name, reply)
    }
    return this.#connection.isBusy && !this.clustered && this.#batch.takes(script)
      ? this.#batch.add(script, keys, args, endsAt, heard)
      : this.#run(script, keys, args, endsAt, heard)
  }

  #run<T>(
    script: Script,
    keys: readonly string[],
    args: (terms: Terms) => Args,
    endsAt: number,
    read: Read<T>,
  ): Promise<T> {
    const argsNow = () => {
      this.#terms.notAfterUs = this.#clock.inUs(endsAt - performance.now())
      return args(this.#terms)
    }
    const leftMs = Math.max(1, endsAt - performance.now())
    return this.run(script, keys, argsNow, leftMs, read)
  }
}

/** What commands need of their server. */
export interface ScriptServer {
  readonly runner: ScriptRunner
}
