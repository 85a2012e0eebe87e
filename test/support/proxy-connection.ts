import { connect, type Socket } from 'node:net'
import { openSocket } from './allowances.ts'
import { type Gate, Lane } from './proxy-lane.ts'
import { Pairing, type ProxyRequest } from './proxy-pairing.ts'
import { type Frame, FrameReader, stringsOf } from './resp.ts'

export type Direction = 'toServer' | 'toClient'

/** Decides how the proxy handles one request and its reply. */
export interface Plan {
  /** Cuts both sides instead of sending the request to the server. */
  cutBefore?: boolean
  /** Blocks this request, and all requests after it, until the gate is opened. */
  gate?: Gate | undefined
  /** Sends the request to the server twice, and drops the second reply. */
  twice?: boolean
  /**
   * `mute` drops this reply and all later replies. `swallow` drops only this reply. `cut` cuts both sides instead of
   * sending the reply.
   */
  reply?: 'pass' | 'cut' | 'mute' | 'swallow'
  replyGate?: Gate | undefined
  /** The client receives this text instead of the reply. */
  instead?: string
  onDone?: () => void
}

/** The decisions of the proxy for its connections. */
export interface Rules {
  plan: (connection: ProxyConnection, request: ProxyRequest) => Plan
  delayMs: (connection: ProxyConnection, direction: Direction) => number
  isHeld: (connection: ProxyConnection, direction: Direction) => boolean
  dropsReplies: (connection: ProxyConnection) => boolean
}

/** A client's connection to the proxy, and the proxy's connection to the server for this client. */
export class ProxyConnection {
  readonly index: number
  /** Bytes that the proxy received for each direction. They may not be delivered yet. */
  readonly bytes: Record<Direction, number> = { toServer: 0, toClient: 0 }
  readonly #client: Socket
  readonly #server: Socket
  readonly #rules: Rules
  readonly #pairing = new Pairing<Plan>()
  readonly #lanes: Record<Direction, Lane>
  #isMuted = false
  #hasLostReplies = false

  constructor(index: number, client: Socket, target: { host: string; port: number }, rules: Rules) {
    this.index = index
    this.#client = client
    this.#rules = rules
    this.#server = connect(target)
    const lane = (direction: Direction) =>
      new Lane({
        delayMs: () => rules.delayMs(this, direction),
        isHeld: () => rules.isHeld(this, direction),
      })
    this.#lanes = { toServer: lane('toServer'), toClient: lane('toClient') }
    this.#pipe(client, 'toServer', (frame) => this.#request(frame))
    this.#pipe(this.#server, 'toClient', (frame) => this.#reply(frame))
    client.on('close', () => this.#lanes.toServer.pushEnd(() => this.#server.destroySoon()))
    this.#server.on('close', () => this.#lanes.toClient.pushEnd(() => client.destroySoon()))
  }

  /** True if the client has sent a SUBSCRIBE of any kind. */
  get isSubscriber(): boolean {
    return this.#pairing.isSubscriber
  }

  /** True if the client's side is open. */
  get isOpen(): boolean {
    return !this.#client.destroyed
  }

  get openSockets(): number {
    return openSocket(this.#client) + openSocket(this.#server)
  }

  /** Cuts both sides now. Undelivered data is lost. */
  cut(): void {
    this.#lanes.toServer.clear()
    this.#lanes.toClient.clear()
    this.#client.destroy()
    this.#server.destroy()
  }

  pump(): void {
    this.#lanes.toServer.pump()
    this.#lanes.toClient.pump()
  }

  /**
   * Drops the blocked data of a direction. Then cuts the connection, because TCP loses no bytes of an open connection.
   */
  loseHeld(direction: Direction): void {
    if (this.#lanes[direction].drop()) this.cut()
  }

  /**
   * Cuts the connection if replies were dropped, because the client would match later replies to the wrong requests.
   */
  cutIfRepliesAreMissing(): void {
    if (this.#hasLostReplies) this.cut()
  }

  #pipe(from: Socket, direction: Direction, onFrame: (frame: Frame) => void): void {
    const reader = new FrameReader()
    from.setNoDelay(true)
    from.on('error', () => undefined) // 'close' follows
    from.on('data', (chunk: Buffer) => {
      this.bytes[direction] += chunk.length
      for (const frame of reader.push(chunk)) onFrame(frame)
    })
  }

  #request(frame: Frame): void {
    const [command = '', ...args] = stringsOf(frame)
    const request = { connection: this.index, command: command.toUpperCase(), args, raw: frame.raw }
    const plan = this.#rules.plan(this, request)
    this.#lanes.toServer.push(() => this.#forward(request, plan), plan.gate)
  }

  #forward(request: ProxyRequest, plan: Plan): void {
    if (plan.cutBefore) {
      this.cut()
      plan.onDone?.()
      return
    }
    this.#pairing.sent(request, plan)
    this.#server.write(request.raw)
    if (plan.twice) {
      this.#pairing.sent(request, { reply: 'swallow', ...(plan.onDone && { onDone: plan.onDone }) })
      this.#server.write(request.raw)
    } else if (plan.gate) plan.onDone?.()
  }

  #reply(frame: Frame): void {
    const answered = this.#pairing.answered(frame)
    const deliver = () => {
      if (this.#client.writable) this.#client.write(answered?.plan.instead ?? frame.raw)
    }
    if (!answered) {
      this.#lanes.toClient.push(deliver)
      return
    }
    const { plan } = answered
    if (plan.reply === 'mute') this.#isMuted = true
    if (plan.reply === 'swallow') {
      plan.onDone?.()
    } else if (plan.reply === 'cut') {
      this.#lanes.toClient.push(() => {
        this.cut()
        plan.onDone?.()
      })
    } else if (this.#isMuted || this.#rules.dropsReplies(this)) {
      this.#hasLostReplies = true
      plan.onDone?.()
    } else {
      this.#lanes.toClient.push(() => {
        deliver()
        if (!plan.twice) plan.onDone?.()
      }, plan.replyGate)
    }
  }
}
