import { type Cluster, Command, type Redis } from 'ioredis'
import { DueCall } from '../../availability/due-calls.ts'
import { CallFailure } from '../../call-failure.ts'
import type { Reply } from '../../reply.ts'
import { type OnWrite, watchWrites, writeTogether } from '../connection/node-writes.ts'
import { isCluster, type RedisClient } from '../connection/open-client.ts'
import { whole } from '../scripts/reading.ts'
import type { Args, Binding, GivenSource, Script } from '../scripts/script.ts'
import type { Terms } from '../scripts/terms.ts'
import { oddAnswer } from './odd-answer.ts'
import type { ServerClock } from './server-clock.ts'
import { isWrongType } from './wrong-type.ts'

/** A call of a script, without the types of its arguments and its answer. */
export interface SentCall extends DueCall<RedisClient> {
  readonly script: Script
  readonly keys: readonly string[]
  /** The deadline, on `performance.now()`. */
  readonly endsAt: number
  /** Makes the arguments. Called at each sending, because the terms may have changed. */
  argsFor(terms: Terms): Args
}

/** The parts of the script runner that a call uses. */
interface CallSender {
  /** True if a request is in flight. */
  readonly isBusy: boolean
  sendAlone(call: SentCall): void
  /**
   * Asks the server which object already has the refused name. Returns a failure that mentions this
   * object; the given failure if the object is unknown.
   */
  explain(failure: CallFailure, call: SentCall): Promise<CallFailure>
  /** The estimated clock of the server, or of one node of a cluster. */
  clockOf(node?: Redis): ServerClock
  /**
   * Returns the terms of a request with the deadline `endsAt`, on `performance.now()`. The clock
   * converts this deadline to server time.
   */
  termsUntil(endsAt: number, clock: ServerClock): Terms
}

/**
 * One call of a script by its hash. If the server does not know the hash, the client sends the call
 * again with the source.
 *
 * If the server refuses the call as late, the client corrects the estimated clock. If time is left,
 * the client usually sends the call once more.
 */
export class ScriptCall<Names, Given, A> extends DueCall<RedisClient> implements SentCall {
  readonly keys: readonly string[]
  readonly endsAt: number
  readonly #sender: CallSender
  readonly #binding: Binding<Names, Given, A>
  readonly #names: Names
  readonly #given: GivenSource<Given>
  readonly #reply: Reply<A>
  #startedAt: number
  /** The clock of the server to which the call was last sent. */
  #clock: ServerClock
  #bySource = false
  #wasLate = false

  constructor(
    sender: CallSender,
    binding: Binding<Names, Given, A>,
    names: Names,
    given: GivenSource<Given>,
    callMs: number,
    reply: Reply<A>,
  ) {
    super()
    this.keys = binding.keysOf(names)
    this.#sender = sender
    this.#binding = binding
    this.#names = names
    this.#given = given
    this.#reply = reply
    this.#clock = sender.clockOf()
    this.#startedAt = performance.now()
    this.endsAt = this.#startedAt + callMs
  }

  get script(): Script {
    return this.#binding.script
  }

  argsFor(terms: Terms): Args {
    const given = isFunction(this.#given) ? this.#given(terms) : this.#given
    return this.#binding.argsOf(given, terms, this.#names)
  }

  /** Outside a cluster, builds the command itself, because `client.evalsha()` handles arguments slowly. */
  send(client: RedisClient): Promise<unknown> {
    const { script, keys } = this
    const name = this.#bySource ? 'eval' : 'evalsha'
    const all = [this.#bySource ? script.source : script.sha1, String(keys.length), ...keys]
    if (isCluster(client)) return this.#sendToNode(client, name, all)
    const command = new Command(name, [], { replyEncoding: 'utf8' })
    for (const arg of this.#args()) all.push(String(arg))
    command.args = all
    return client.sendCommand(command) as Promise<unknown>
  }

  /**
   * Does not build a `Command`, because the cluster client may come from another copy of ioredis.
   * Makes the arguments again before each write, because a redirection leads to a node with another
   * clock.
   */
  #sendToNode(client: Cluster, name: 'eval' | 'evalsha', all: string[]): Promise<unknown> {
    const { length } = all
    const { isBusy } = this.#sender
    const onWrite: OnWrite = (node, command) => {
      // Locks in several slots cannot share a request, but their requests can share a system call.
      if (isBusy) writeTogether(node)
      this.#clock = this.#sender.clockOf(node)
      this.#startedAt = performance.now()
      command.args = [...command.args.slice(0, length), ...this.#args().map(String)]
    }
    const [text, count, ...keys] = all as [string, string, ...string[]]
    return watchWrites(name, onWrite, () => client[name](text, count, ...keys, ...this.#args()))
  }

  #args(): Args {
    return this.argsFor(this.#sender.termsUntil(this.endsAt, this.#clock))
  }

  answered(reply: unknown): void {
    let answer: A
    try {
      if (this.#isLate(reply)) {
        this.#askAgain(reply)
        return
      }
      answer = this.#binding.read(reply)
    } catch (error) {
      const odd = error instanceof CallFailure ? error : oddAnswer(this.script.name, reply)
      this.#reply.failed(odd)
      return
    }
    this.#reply.answered(answer)
  }

  failed(failure: CallFailure): void {
    const { kind, message } = failure
    if (kind === 'refused' && message.startsWith('NOSCRIPT') && !this.#bySource) {
      this.#bySource = true
      this.#sender.sendAlone(this)
    } else if (kind === 'refused' && isWrongType(failure)) {
      const explained = this.#sender.explain(failure, this)
      void explained.then((explanation) => this.#reply.failed(explanation))
    } else if (kind !== 'refused' || isOfServer(message)) {
      this.#reply.failed(failure)
    } else {
      this.#reply.failed(oddAnswer(this.script.name, failure))
    }
  }

  #isLate(reply: unknown): reply is readonly unknown[] {
    if (!Array.isArray(reply) || reply[0] !== 'late') return false
    return this.script.args.includes('notAfterUs')
  }

  #askAgain(reply: readonly unknown[]): void {
    const { script, asksAgain = true } = this.#binding
    const now = performance.now()
    this.#clock.update(whole(reply[1], 1), this.#startedAt)
    if (now >= this.endsAt || !asksAgain) {
      throw new CallFailure('unsent', 'the request arrived too late, so the server did not do it')
    }
    // The first refusal as late has corrected the clock, so a second refusal is an odd answer.
    if (this.#wasLate) throw oddAnswer(script.name, reply)
    this.#wasLate = true
    this.#bySource = false
    this.#startedAt = now
    this.#sender.sendAlone(this)
  }
}

function isFunction<Given>(given: GivenSource<Given>): given is (terms: Terms) => Given {
  return typeof given === 'function'
}

/**
 * True if Redis itself wrote the error. Such an error begins with a code. After any other error,
 * the script may have run.
 */
function isOfServer(message: string): boolean {
  return /^-?[A-Z][A-Z0-9_]*\b/.test(message) || message.includes('user_script')
}
