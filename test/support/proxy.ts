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
 * Selects connections: `subscriber` if they have sent a SUBSCRIBE, `commands` if not, one by its index, or some by a
 * predicate. The proxy checks each frame, so a connection is a subscriber from its first SUBSCRIBE. A RESP3 connection
 * for commands and subscriptions counts as a subscriber.
 */
export type Only = 'commands' | 'subscriber' | number | ((connection: ProxyConnection) => boolean)

/**
 * Selects requests by the name of the command, by a part of an argument (for example a key or a script's SHA-1), or by
 * a predicate.
 */
export type Match = string | RegExp | ((request: ProxyRequest) => boolean)

/**
 * The action of the proxy for the request:
 * - `pass`: sends it on; the test only waits for it;
 * - `cutBefore`: cuts the connection; the server never receives the request;
 * - `cutAfter`: the server runs the request, and the proxy cuts the connection in place of the reply;
 * - `mute`: the server runs the request; the proxy drops this reply and all later ones of the connection;
 * - `duplicate`: sends the request to the server twice, and one reply to the client;
 * - `hold`: blocks the request, and all requests behind it, until `release()` or `heal()`;
 * - `holdReply`: the server runs the request; the proxy blocks this reply, and all behind it, until then.
 */
export type Action = 'pass' | 'cutBefore' | 'cutAfter' | 'mute' | 'duplicate' | 'hold' | 'holdReply'

/** A fault that is active until `heal()`. */
export interface Fault {
  heal(): void
}

/** Waits for one request and applies an action to it. */
export interface Trap {
  /** Resolves when the request arrives at the proxy. */
  readonly seen: Promise<ProxyRequest>
  /**
   * Resolves when the action is complete: for example when the connection is cut, or when the last reply was passed on
   * or dropped.
   */
  readonly done: Promise<void>
  /** Delivers what `hold` or `holdReply` blocks. A trap that catches its request later then blocks nothing. */
  release(): void
  /** Removes a trap that has caught no request. */
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

/** A TCP proxy in front of a Redis server. It loses, delays, repeats and cuts what the test selects. */
export class FaultProxy {
  readonly port: number
  /** All connections since the start, in order. `isOpen` tells whether a connection still exists. */
  readonly connections: ProxyConnection[] = []
  /** All requests that reached the proxy, in order, even if the proxy dropped them. */
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

  /** Returns how many matching requests reached the proxy. */
  count(match: Match, only?: Only): number {
    return this.requests.filter(
      (request) => matches(match, request) && this.#isMeant(request.connection, only),
    ).length
  }

  /** Delays data by `ms` milliseconds in one or both directions. The order stays the same. */
  delay(ms: number, options: { direction?: Direction | 'both'; only?: Only } = {}): Fault {
    return this.#switchOn({
      direction: options.direction ?? 'both',
      only: options.only,
      delayMs: ms,
    })
  }

  /**
   * The proxy accepts connections and keeps them open, but delivers nothing, not even their end. `heal()` delivers the
   * blocked data. With `onHeal: 'drop'`, `heal()` instead drops this data and cuts the connections that lost data.
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
   * Requests reach the server, and push messages reach the client, but replies do not. `heal()` cuts connections that
   * lost replies, because the client would match later replies to the wrong requests.
   */
  dropReplies(options: { only?: Only } = {}): Fault {
    return this.#switchOn({ direction: 'toClient', only: options.only, dropsReplies: true })
  }

  /** The server runs matching requests. The client receives the text `instead` in place of the reply. */
  answer(match: Match, instead: string): Fault {
    const lie = { match, instead }
    this.#lies.push(lie)
    return {
      heal: () => {
        this.#lies = this.#lies.filter((one) => one !== lie)
      },
    }
  }

  /** Cuts both sides of the open connections. Clients can connect again; compare `refuse`. */
  cut(only?: Only): void {
    for (const connection of this.openConnections) {
      if (isMeant(connection, only)) connection.cut()
    }
  }

  /** The proxy refuses new connections (ECONNREFUSED) until `heal()`. Open connections stay open. */
  refuse(): void {
    this.#listener?.close()
    this.#listener = undefined
  }

  /**
   * Sets a trap for the next matching request, or for the nth matching request from now on. A trap catches one request.
   * The action keeps the order of requests and replies.
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

  /** Sends an earlier request to the server again, on a new connection. */
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

  /** Ends all faults, removes all traps, and accepts connections again. */
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

  /** Cuts all connections and stops. Runs at the end of the test or file that started the proxy. */
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

/** Starts a proxy in front of the server on this loopback port. It ends with the test or the file. */
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
