import { CallFailure, OddAnswer } from '../call-failure.ts'
import { type Answer, Batch } from './batch.ts'
import type { Connection } from './connection.ts'
import { runScript } from './evalsha.ts'
import type { Client } from './open-client.ts'
import { whole } from './replies.ts'
import type { Args, Read, Script } from './scripts/script.ts'
import type { ServerClock } from './server-clock.ts'

/** Scripts on one server, some of which must not run after those who sent them have given up. */
export class ScriptRunner {
  readonly #connection: Connection
  readonly #clock: ServerClock
  readonly #batch = new Batch(
    (script, keys, args, endsAt, read) => this.#run(script, keys, args, endsAt, read),
    (failure) => this.#connection.heard(failure),
  )

  constructor(connection: Connection, clock: ServerClock) {
    this.#connection = connection
    this.#clock = clock
  }

  /** How a message is sent to those who listen to the channel of a lock. */
  get publish(): 'PUBLISH' | 'SPUBLISH' {
    return this.#connection.sharded ? 'SPUBLISH' : 'PUBLISH'
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
    args: (notAfterUs: number) => Args,
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
    args: (notAfterUs: number) => Args,
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
    args: (notAfterUs: number) => Args,
    endsAt: number,
    read: Read<T>,
  ): Promise<T> {
    const argsNow = () => args(this.#clock.inUs(endsAt - performance.now()))
    const leftMs = Math.max(1, endsAt - performance.now())
    return this.run(script, keys, argsNow, leftMs, read)
  }
}

/** What commands need of their server. */
export interface ScriptServer {
  readonly runner: ScriptRunner
  /** How long a token counter outlives its last use; 0 keeps it for good. All on one connection agree. */
  readonly counterMs: number
}
