import { type Frame, stringsOf } from './resp.ts'

/** A command, and the connection that sent it. */
export interface ProxyRequest {
  /** Index of the connection that sent it. */
  readonly connection: number
  /** The command's name in capitals. */
  readonly command: string
  readonly args: readonly string[]
  readonly raw: Buffer
}

const CONFIRMED = /^[PS]?(UN)?SUBSCRIBE$/
const MESSAGES = new Set(['message', 'pmessage', 'smessage'])

interface Expected<Plan> {
  command: string
  replies: number
  plan: Plan
}

/**
 * Finds the request that a reply answers, because a server answers in order. A push message is not a reply. But RESP3
 * confirms subscriptions by push messages, one for each channel. RESP2 delivers messages as ordinary arrays to
 * connections that have subscribed.
 */
export class Pairing<Plan> {
  readonly #expected: Expected<Plan>[] = []
  readonly #subscribed = new Map<string, Set<string>>()
  isSubscriber = false

  /** Records that the request goes to the server. `answered` returns `plan` for each of its replies. */
  sent(request: ProxyRequest, plan: Plan): void {
    const { command } = request
    const replies = CONFIRMED.test(command) ? this.#confirmations(request) : 1
    this.#expected.push({ command, replies, plan })
  }

  /** Returns the plan of the request that this frame answers, or undefined for a push message. */
  answered(frame: Frame): { plan: Plan } | undefined {
    const head = this.#expected[0]
    const mayBePush = frame.kind === '>' || (frame.kind === '*' && this.isSubscriber)
    const type = mayBePush ? (stringsOf(frame)[0] ?? '') : ''
    if (frame.kind === '>' && head?.command !== type.toUpperCase()) return undefined
    if (mayBePush && MESSAGES.has(type)) return undefined
    if (!head) return undefined
    head.replies--
    if (head.replies === 0 || frame.kind === '-') this.#expected.shift()
    return { plan: head.plan }
  }

  #confirmations({ command, args }: ProxyRequest): number {
    const kind = command.replace('UNSUBSCRIBE', 'SUBSCRIBE')
    const channels = this.#subscribed.get(kind) ?? new Set()
    this.#subscribed.set(kind, channels)
    if (kind === command) {
      this.isSubscriber = true
      for (const channel of args) channels.add(channel)
      return args.length
    }
    const replies = args.length || Math.max(1, channels.size)
    for (const channel of args.length > 0 ? args : [...channels]) channels.delete(channel)
    return replies
  }
}
