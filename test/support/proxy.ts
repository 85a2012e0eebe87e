import { connect, createServer, type Server } from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'
import { allow } from './allowances.ts'
import { deferred } from './deferred.ts'
import { atEnd } from './lifetime.ts'
import { freePort, tryListen } from './ports.ts'
import { type Direction, type Plan, ProxyConnection } from './proxy-connection.ts'
import type { Gate } from './proxy-lane.ts'
import type { ProxyRequest } from './proxy-pairing.ts'
import { FrameReader } from './resp.ts'

export type { Direction, ProxyConnection, ProxyRequest }

/**
 * Which connections: those that have subscribed, those that have not, one by its index, or a predicate.
 * Looked at anew for every frame, so a connection turns into a subscriber with its first SUBSCRIBE;
 * where one RESP3 connection does both jobs it counts as the subscriber.
 */
export type Only = 'commands' | 'subscriber' | number | ((connection: ProxyConnection) => boolean)

/** A command's name, a part of one of its arguments (a script's SHA-1, a key …), or a predicate. */
export type Match = string | RegExp | ((request: ProxyRequest) => boolean)

/**
 * What happens to the request:
 * - `pass`: nothing, it is only seen;
 * - `cutBefore`: the connection is cut and the server never sees it;
 * - `cutAfter`: the server runs it, and the connection is cut in place of the reply;
 * - `mute`: the server runs it; its reply and all later ones of the connection are swallowed;
 * - `duplicate`: the server gets it twice, the client one reply;
 * - `hold`: it waits before the server, with all after it, until `release()` or `heal()`;
 * - `holdReply`: the server runs it; the reply waits, with all after it, until `release()` or `heal()`.
 */
export type Action = 'pass' | 'cutBefore' | 'cutAfter' | 'mute' | 'duplicate' | 'hold' | 'holdReply'

/** Something switched on that can be switched off again by itself. */
export interface Fault {
  heal(): void
}

/** A trap for one request. */
export interface Trap {
  /** Resolves when the request arrives at the proxy. */
  readonly seen: Promise<ProxyRequest>
  /** Resolves when the action is over: cut, reply passed or swallowed, second reply swallowed … */
  readonly done: Promise<void>
  /** Lets go what `hold` or `holdReply` keeps, or is yet to catch. */
  release(): void
  /** Takes away a trap that has caught nothing. */
  cancel(): void
}

interface Switch {
  only: Only | undefined
  direction: Direction | 'both'
  delayMs?: number
  onHeal?: 'deliver' | 'drop'
  dropsReplies?: boolean
}

interface SetTrap {
  matches: (request: ProxyRequest, connection: ProxyConnection) => boolean
  spring: (request: ProxyRequest) => Plan
}

const TARGET_HOST = '127.0.0.1'

/** A TCP proxy before a Redis server that loses, delays, repeats and cuts what a test tells it to. */
export class FaultProxy {
  readonly port: number
  /** Every connection ever made, in order; see `isOpen`. */
  readonly connections: ProxyConnection[] = []
  /** Every request that has arrived, in order, whatever became of it. */
  readonly requests: ProxyRequest[] = []
  readonly #target: { host: string; port: number }
  readonly #withdrawals: (() => void)[]
  #switches: Switch[] = []
  #traps: SetTrap[] = []
  #gates: Gate[] = []
  #lies: { match: Match; instead: string }[] = []
  #listener: Server | undefined

  constructor(port: number, targetPort: number, listener: Server) {
    this.port = port
    this.#target = { host: TARGET_HOST, port: targetPort }
    this.#accept(listener)
    this.#withdrawals = [
      allow('TCPServerWrap', () => (this.#listener ? 1 : 0)),
      allow('TCPSocketWrap', () =>
        this.connections.reduce((sum, connection) => sum + connection.openSockets, 0),
      ),
    ]
  }

  get host(): string {
    return TARGET_HOST
  }

  get url(): string {
    return `redis://${this.host}:${this.port}`
  }

  get openConnections(): ProxyConnection[] {
    return this.connections.filter((connection) => connection.isOpen)
  }

  /** How many requests that match have arrived. */
  count(match: Match, only?: Only): number {
    return this.requests.filter(
      (request) => matches(match, request) && this.#isMeant(request.connection, only),
    ).length
  }

  /** Adds `ms` to the way in one direction, or in each of both; the order stays. */
  delay(ms: number, options: { direction?: Direction | 'both'; only?: Only } = {}): Fault {
    return this.#switchOn({
      direction: options.direction ?? 'both',
      only: options.only,
      delayMs: ms,
    })
  }

  /**
   * Connections are accepted and stay up, but nothing arrives, not even their end. On heal, what was
   * held is delivered, or lost and then the connections that lost something are cut.
   */
  blackHole(
    options: { direction?: Direction | 'both'; only?: Only; onHeal?: 'deliver' | 'drop' } = {},
  ): Fault {
    return this.#switchOn({
      direction: options.direction ?? 'both',
      only: options.only,
      onHeal: options.onHeal ?? 'deliver',
    })
  }

  /**
   * Requests reach the server, replies do not reach the client; pushed messages do. On heal the
   * connections that miss a reply are cut, since the client could not tell later replies apart.
   */
  dropReplies(options: { only?: Only } = {}): Fault {
    return this.#switchOn({ direction: 'toClient', only: options.only, dropsReplies: true })
  }

  /** The server runs the requests that match; the client gets this instead of what it answers. */
  answer(match: Match, instead: string): Fault {
    const lie = { match, instead }
    this.#lies.push(lie)
    return {
      heal: () => {
        this.#lies = this.#lies.filter((one) => one !== lie)
      },
    }
  }

  /** Breaks the connections that stand now, both sides. New ones are welcome; see `refuse`. */
  cut(only?: Only): void {
    for (const connection of this.openConnections) {
      if (isMeant(connection, only)) connection.cut()
    }
  }

  /** New connections get ECONNREFUSED until `heal()`; those that stand are left alone. */
  refuse(): void {
    this.#listener?.close()
    this.#listener = undefined
  }

  /**
   * Sets a trap for the next request that matches, or the nth from now. It snaps once, when the
   * request arrives; its action takes its place in the order of requests and replies.
   */
  onNextRequest(match: Match, action: Action, options: { nth?: number; only?: Only } = {}): Trap {
    const seen = deferred<ProxyRequest>()
    const done = deferred<void>()
    const gate: Gate = { isOpen: false }
    let left = options.nth ?? 1
    const trap: SetTrap = {
      matches: (request, connection) =>
        isMeant(connection, options.only) && matches(match, request) && --left === 0,
      spring: (request) => {
        seen.resolve(request)
        return { ...planOf(action, gate), onDone: () => done.resolve() }
      },
    }
    this.#traps.push(trap)
    this.#gates.push(gate)
    return {
      seen: seen.promise,
      done: done.promise,
      release: () => {
        gate.isOpen = true
        this.#pump()
      },
      cancel: () => {
        this.#traps = this.#traps.filter((other) => other !== trap)
      },
    }
  }

  /** Sends a request of the past to the server once more, on a connection of its own. */
  replay(request: ProxyRequest): Promise<string> {
    return new Promise((resolve, reject) => {
      const reader = new FrameReader()
      const socket = connect(this.#target).once('error', reject)
      socket.on('data', (chunk) => {
        const [frame] = reader.push(chunk)
        if (!frame) return
        socket.destroy()
        resolve(frame.raw.toString())
      })
      socket.write(request.raw)
    })
  }

  /** Switches every fault and trap off, and listens again. */
  async heal(): Promise<void> {
    this.#traps = []
    this.#lies = []
    for (const gate of this.#gates.splice(0)) gate.isOpen = true
    for (const fault of [...this.#switches]) this.#switchOff(fault)
    for (const connection of this.connections) connection.cutIfRepliesAreMissing()
    this.#pump()
    for (let attempt = 1; !this.#listener; attempt++) {
      const listener = createServer()
      if (await tryListen(listener, this.port)) this.#accept(listener)
      else if (attempt === 40) throw new Error(`Port ${this.port} of the proxy was taken meanwhile`)
      else await pause(50)
    }
  }

  /** Cuts everything and stops. Called by itself at the end of the test or file that started it. */
  close(): void {
    this.refuse()
    for (const connection of this.connections) connection.cut()
    for (const withdraw of this.#withdrawals) withdraw()
  }

  #accept(listener: Server): void {
    this.#listener = listener
    listener.on('connection', (socket) => {
      const connection = new ProxyConnection(this.connections.length, socket, this.#target, {
        plan: (...request) => this.#plan(...request),
        delayMs: (...way) =>
          Math.max(0, ...this.#active(...way).map(({ delayMs }) => delayMs ?? 0)),
        isHeld: (...way) => this.#active(...way).some(({ onHeal }) => onHeal !== undefined),
        dropsReplies: (from) => this.#active(from, 'toClient').some((fault) => fault.dropsReplies),
      })
      this.connections.push(connection)
    })
  }

  #plan(connection: ProxyConnection, request: ProxyRequest): Plan {
    this.requests.push(request)
    const trap = this.#traps.find((set) => set.matches(request, connection))
    if (!trap) {
      const lie = this.#lies.find(({ match }) => matches(match, request))
      return lie === undefined ? {} : { instead: lie.instead }
    }
    this.#traps = this.#traps.filter((other) => other !== trap)
    return trap.spring(request)
  }

  #switchOn(fault: Switch): Fault {
    this.#switches.push(fault)
    return { heal: () => this.#switchOff(fault) }
  }

  #switchOff(fault: Switch): void {
    if (!this.#switches.includes(fault)) return
    this.#switches = this.#switches.filter((other) => other !== fault)
    for (const connection of this.connections.filter((each) => isMeant(each, fault.only))) {
      if (fault.dropsReplies) connection.cutIfRepliesAreMissing()
      if (fault.onHeal !== 'drop') continue
      for (const direction of ['toServer', 'toClient'] as const) {
        if (isOnWay(fault, direction)) connection.loseHeld(direction)
      }
    }
    this.#pump()
  }

  #active(connection: ProxyConnection, direction: Direction): Switch[] {
    return this.#switches.filter(
      (fault) => isOnWay(fault, direction) && isMeant(connection, fault.only),
    )
  }

  #isMeant(index: number, only: Only | undefined): boolean {
    const connection = this.connections[index]
    return connection !== undefined && isMeant(connection, only)
  }

  #pump(): void {
    for (const connection of this.connections) connection.pump()
  }
}

/** Starts a proxy before the server on that loopback port. It ends with the test or the file. */
export async function startProxy(targetPort: number): Promise<FaultProxy> {
  for (;;) {
    const port = await freePort()
    const listener = createServer()
    if (!(await tryListen(listener, port))) continue
    const proxy = new FaultProxy(port, targetPort, listener)
    atEnd(() => proxy.close())
    return proxy
  }
}

function planOf(action: Action, gate: Gate): Plan {
  switch (action) {
    case 'pass':
      return {}
    case 'cutBefore':
      return { cutBefore: true }
    case 'cutAfter':
      return { reply: 'cut' }
    case 'mute':
      return { reply: 'mute' }
    case 'duplicate':
      return { twice: true }
    case 'hold':
      return { gate }
    case 'holdReply':
      return { replyGate: gate }
  }
}

function matches(match: Match, request: ProxyRequest): boolean {
  if (typeof match === 'function') return match(request)
  if (typeof match === 'string') {
    return (
      request.command === match.toUpperCase() || request.args.some((arg) => arg.includes(match))
    )
  }
  return match.test([request.command, ...request.args].join(' '))
}

function isMeant(connection: ProxyConnection, only: Only | undefined): boolean {
  if (only === undefined) return true
  if (only === 'commands') return !connection.isSubscriber
  if (only === 'subscriber') return connection.isSubscriber
  return typeof only === 'number' ? connection.index === only : only(connection)
}

const isOnWay = (fault: Switch, direction: Direction): boolean =>
  fault.direction === 'both' || fault.direction === direction
