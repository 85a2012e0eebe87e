import type { Worker } from 'node:worker_threads'
import { RedisRefusedError, RedisUnavailableError } from '../../../errors.ts'
import { withoutFullStop } from '../../../kit/without-full-stop.ts'
import type { LeaseToRenew } from '../../answers.ts'
import type { RedisSource } from '../connection/open-client.ts'
import { type PlainSource, plainSource } from './plain-source.ts'
import { type ProofMoment, ProofTable } from './proof-table.ts'
import { newWorker, whenUp } from './start-worker.ts'

/** A lease that the worker renews if the main thread is late. */
export interface KeptLease {
  readonly lease: LeaseToRenew
  /** The longest lease that a renewal requests, in milliseconds. */
  readonly leaseMs: number
  /**
   * No renewed lease may last beyond this time, on the `performance.now()` of the main thread.
   * Infinity for no limit.
   */
  readonly limitAt: number
}

export type ToWorker =
  | { readonly kind: 'block'; readonly memory: SharedArrayBuffer }
  | { readonly kind: 'keep'; readonly slot: number; readonly kept: KeptLease }
  | { readonly kind: 'forget'; readonly slot: number }

export type FromWorker =
  /** The program of the worker is loaded and ready. */
  | { readonly kind: 'up' }
  /** The worker does not use the slot any more. */
  | { readonly kind: 'freed'; readonly slot: number }
  /** The worker has no connection. It repeats this message only after it has connected again. */
  | { readonly kind: 'away'; readonly reason: string; readonly refused: boolean }

export interface WorkerData {
  readonly source: PlainSource
  readonly commandTimeoutMs: number
  readonly silenceLimitMs: number
  /** Memory for one number: when the main thread last ran, on its own `performance.now()`. */
  readonly heartbeat: SharedArrayBuffer
  /** `process.hrtime`, which all threads share, minus the main thread's `performance.now()`. */
  readonly hrtimeOffsetMs: number
}

/**
 * A worker thread that renews leases over its own connection while the main thread is blocked. The
 * worker does nothing while the main thread renews in time. If the main thread is silent for longer
 * than `silenceLimitMs`, the worker lets the leases expire.
 */
export class WatchdogThread {
  readonly #data: WorkerData
  readonly #onError: (error: Error) => void
  readonly #table = new ProofTable()
  readonly #memory: SharedArrayBuffer[] = []
  readonly #leases = new Map<number, KeptLease>()
  #free: number[] = []
  readonly #heartbeat: Float64Array
  readonly #program: URL | undefined
  #used = 0
  #beats: NodeJS.Timeout | undefined
  #worker: Worker | undefined
  /**
   * The workers that have not exited. Each may write to the slots of the leases that it received.
   */
  readonly #running = new Set<Worker>()
  #starting: Promise<void> | undefined

  constructor(
    source: RedisSource,
    limits: { commandTimeoutMs: number; silenceLimitMs: number },
    onError: (error: Error) => void,
    program?: URL,
  ) {
    const heartbeat = new SharedArrayBuffer(Float64Array.BYTES_PER_ELEMENT)
    this.#data = {
      ...limits,
      source: plainSource(source),
      heartbeat,
      hrtimeOffsetMs: Number(process.hrtime.bigint()) / 1e6 - performance.now(),
    }
    this.#heartbeat = new Float64Array(heartbeat)
    this.#onError = onError
    this.#program = program
  }

  /**
   * Starts the worker if it does not run.
   *
   * @returns undefined if the worker is ready. Otherwise a promise that resolves when the worker is
   * ready, and rejects with `InvalidArgumentError` if the worker cannot start
   */
  ready(): Promise<void> | undefined {
    return this.#worker === undefined ? this.#start() : this.#starting
  }

  /** Lets the worker renew this lease if the main thread is late, until the caller calls `forget()`. */
  add(lease: LeaseToRenew, provedAt: ProofMoment, leaseMs: number, limitAt: number) {
    const kept = { lease, leaseMs, limitAt }
    const slot = this.#free.pop() ?? this.#newSlot()
    const table = this.#table
    table.write(slot, provedAt)
    this.#leases.set(slot, kept)
    this.#beat()
    this.#beats ??= setInterval(
      () => this.#beat(),
      Math.min(this.#data.silenceLimitMs / 4, 1_000),
    ).unref()
    if (this.#worker === undefined) this.#start().catch(this.#onError)
    this.#post({ kind: 'keep', slot, kept })
    return {
      provedAt: () => table.read(slot),
      proved: (at: ProofMoment) => table.write(slot, at),
      forget: () => {
        this.#leases.delete(slot)
        if (this.#running.size === 0) this.#free.push(slot)
        else this.#post({ kind: 'forget', slot })
        if (this.#leases.size > 0) return
        clearInterval(this.#beats)
        this.#beats = undefined
      },
    }
  }

  async terminate(): Promise<void> {
    clearInterval(this.#beats)
    const worker = this.#worker
    this.#worker = undefined
    await worker?.terminate()
  }

  #beat(): void {
    this.#heartbeat[0] = performance.now()
  }

  #newSlot(): number {
    if (this.#used === this.#table.slots) {
      const memory = this.#table.grow()
      this.#memory.push(memory)
      this.#post({ kind: 'block', memory })
    }
    this.#used += 1
    return this.#used - 1
  }

  /**
   * Frees the slots of all forgotten leases. Called when all workers have exited, because then no
   * worker reports freed slots.
   */
  #freeAll(): void {
    const slots = Array.from({ length: this.#used }, (_, slot) => slot)
    this.#free = slots.filter((slot) => !this.#leases.has(slot))
  }

  #post(message: ToWorker): void {
    this.#worker?.postMessage(message)
  }

  /**
   * @returns a promise that resolves when the worker is ready, and rejects if the worker cannot
   * start
   */
  #start(): Promise<void> {
    this.#starting = this.#run().then(() => {
      this.#starting = undefined
    })
    return this.#starting
  }

  async #run(): Promise<void> {
    const worker = newWorker(this.#program, this.#data)
    this.#worker = worker
    this.#running.add(worker)
    worker.on('message', (message: FromWorker) => {
      if (message.kind === 'freed') {
        if (this.#running.has(worker)) this.#free.push(message.slot)
      } else if (message.kind === 'away' && this.#worker === worker)
        this.#onError(awayError(message))
    })
    worker.on('error', (error) => {
      if (this.#starting === undefined) this.#onError(error)
    })
    const gone = () => {
      if (this.#worker === worker) this.#worker = undefined // The next lock starts another worker.
    }
    worker.on('exit', () => {
      gone()
      this.#running.delete(worker)
      if (this.#running.size === 0) this.#freeAll()
    })
    for (const memory of this.#memory) worker.postMessage({ kind: 'block', memory })
    for (const [slot, kept] of this.#leases) worker.postMessage({ kind: 'keep', slot, kept })
    try {
      await whenUp(worker)
    } catch (error) {
      gone()
      throw error
    }
    worker.unref()
  }
}

function awayError({ reason, refused }: { reason: string; refused: boolean }): Error {
  const words =
    `The watchdog thread has no connection to Redis: ${withoutFullStop(reason)}. It retries. Until then only ` +
    'the main thread renews leases. The leases end if the main thread is blocked for too long.'
  const cause = new Error(reason)
  return refused
    ? new RedisRefusedError(words, undefined, cause)
    : new RedisUnavailableError(words, undefined, cause)
}
