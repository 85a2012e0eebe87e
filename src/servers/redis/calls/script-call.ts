import { Command } from 'ioredis'
import { CallFailure, OddAnswer } from '../../call-failure.ts'
import type { Reply } from '../../reply.ts'
import { DueCall } from '../connection/due-calls.ts'
import { type Client, isCluster } from '../connection/open-client.ts'
import { whole } from '../scripts/reading.ts'
import type { Request } from '../scripts/script.ts'
import type { Terms } from '../scripts/terms.ts'

/** What a call asks of those who send it. */
interface Sender {
  send(call: ScriptCall<unknown>): void
  sendAlone(call: ScriptCall<unknown>): void
  /** What to tell a script that may run until then, on `performance.now()`. */
  termsUntil(endsAt: number): Terms
  /** The server's time, as it told in an answer to a request that was sent at `sentAt`. */
  told(serverUs: number, sentAt: number): void
}

/**
 * One run of a script, by its hash: a server that does not know it (a restart, SCRIPT FLUSH, a failover,
 * an evicted script) gets the source, once; one to which it came too late, because the clocks had come
 * apart, is asked once more.
 */
export class ScriptCall<A> extends DueCall {
  readonly request: Request<A>
  /** On `performance.now()`. */
  readonly endsAt: number
  readonly #sender: Sender
  readonly #reply: Reply<A>
  #startedAt: number
  #bySource = false
  #wasLate = false

  constructor(sender: Sender, request: Request<A>, reply: Reply<A>) {
    super()
    this.request = request
    this.#sender = sender
    this.#reply = reply
    this.#startedAt = performance.now()
    this.endsAt = this.#startedAt + request.callMs
  }

  /** What `client.evalsha()` does, without its ways to pass arguments, which take their time. */
  send(client: Client): Promise<unknown> {
    const { request, endsAt } = this
    const { script, keys } = request
    const args = request.args(this.#sender.termsUntil(endsAt))
    const name = this.#bySource ? 'eval' : 'evalsha'
    const text = this.#bySource ? script.source : script.sha1
    // A cluster client is of the user's own copy of ioredis.
    if (isCluster(client)) return client[name](text, keys.length, ...keys, ...args)
    const command = new Command(name, [], { replyEncoding: 'utf8' })
    const all = [text, String(keys.length), ...keys]
    for (const arg of args) all.push(String(arg))
    command.args = all
    return client.sendCommand(command) as Promise<unknown>
  }

  answered(reply: unknown): void {
    let answer: A
    try {
      if (this.#isLate(reply)) {
        this.#askAgain(reply)
        return
      }
      answer = this.request.read(reply)
    } catch (error) {
      const odd =
        error instanceof CallFailure ? error : new OddAnswer(this.request.script.name, reply)
      this.#reply.failed(odd)
      return
    }
    this.#reply.answered(answer)
  }

  failed(failure: CallFailure): void {
    const { kind, message } = failure
    if (kind === 'refused' && message.startsWith('NOSCRIPT') && !this.#bySource) {
      this.#bySource = true
      this.#sender.sendAlone(this as ScriptCall<unknown>)
    } else if (kind !== 'refused' || isOfServer(message)) {
      this.#reply.failed(failure)
    } else {
      this.#reply.failed(new OddAnswer(this.request.script.name, failure))
    }
  }

  #isLate(reply: unknown): reply is readonly unknown[] {
    if (!Array.isArray(reply) || reply[0] !== 'late') return false
    return this.request.script.args.includes('notAfterUs')
  }

  #askAgain(reply: readonly unknown[]): void {
    const { script, asksAgain = true } = this.request
    const now = performance.now()
    this.#sender.told(whole(reply[1], 1), this.#startedAt)
    if (now >= this.endsAt || !asksAgain) {
      throw new CallFailure('unsent', 'it came too late to be done')
    }
    // One that is late for ever may do what it says that it does not.
    if (this.#wasLate) throw new OddAnswer(script.name, reply)
    this.#wasLate = true
    this.#bySource = false
    this.#startedAt = now
    this.#sender.send(this as ScriptCall<unknown>)
  }
}

/** Errors of Redis begin with a code. Of another it is not known what became of the script. */
function isOfServer(message: string): boolean {
  return /^-?[A-Z][A-Z0-9_]*\b/.test(message) || message.includes('user_script')
}
