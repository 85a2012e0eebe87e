import type { Connection } from './connection.ts'
import { CallFailure } from './failure.ts'
import { runScript, type Script } from './run-script.ts'
import type { ServerClock } from './server-clock.ts'

type Args = readonly (string | number)[]

/** Scripts on one server, some of which must not run after those who sent them have given up. */
export class LockCalls {
  readonly #connection: Connection
  readonly #clock: ServerClock

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

  /** @param args called when they can be told; only then it is known how to publish */
  run(
    script: Script,
    keys: readonly string[],
    args: () => Args,
    timeoutMs: number,
  ): Promise<unknown> {
    return runScript(this.#connection, script, keys, args, timeoutMs)
  }

  /** Tells the script until when it may run; where the clocks had come apart, tells it once more. */
  async timed(
    script: Script,
    keys: readonly string[],
    args: (notAfterUs: number) => Args,
    timeoutMs: number,
  ): Promise<[kind: string, ...details: unknown[]]> {
    const endsAt = performance.now() + timeoutMs
    for (let leftMs = timeoutMs; leftMs > 0; leftMs = endsAt - performance.now()) {
      const argsNow = () => args(this.#clock.inUs(endsAt - performance.now()))
      const reply = await this.run(script, keys, argsNow, leftMs)
      const answer = reply as [string, ...unknown[]]
      if (answer[0] !== 'late') return answer
      this.#clock.heard(Number(answer[1]))
    }
    throw new CallFailure('unsent', 'it came too late to be done')
  }
}
