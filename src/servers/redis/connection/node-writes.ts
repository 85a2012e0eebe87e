import type { Writable } from 'node:stream'
import type { Redis } from 'ioredis'

/** A command of ioredis before it is written. */
interface Written {
  readonly name: string
  args: unknown[]
}

/** Called before each write of a command to a node of a cluster. A redirection leads to another write. */
export type OnWrite = (node: Redis, command: Written) => void

/**
 * The callback for the command that `watchWrites` sends now. This variable passes the callback to
 * `reportWrites`, because ioredis makes and sends a command in one step.
 */
let making: OnWrite | undefined
const watched = new WeakMap<Written, OnWrite>()

/**
 * Calls `onWrite` before each write of a command, so that `onWrite` can change the arguments. After
 * a redirection, ioredis would send the same arguments to another node. But the deadline in the
 * arguments depends on the clock of the node.
 *
 * @param send sends one command of that name by a cluster client
 */
export function watchWrites<T>(name: string, onWrite: OnWrite, send: () => T): T {
  making = (node, command) => {
    if (command.name === name) onWrite(node, command)
  }
  try {
    return send()
  } finally {
    making = undefined
  }
}

/**
 * Makes a node call the `onWrite` of each watched command before the write. Replaces a method of the node,
 * because ioredis has no option for this.
 */
export function reportWrites(node: Redis): void {
  const inner = node as unknown as { sendCommand(command: Written, stream?: object): unknown }
  const send = inner.sendCommand
  inner.sendCommand = (command, stream) => {
    if (making !== undefined) watched.set(command, making)
    watched.get(command)?.(node, command)
    return send.call(node, command, stream)
  }
}

/** The sockets that send their data at the end of this turn of the event loop. */
const corked = new WeakSet<Writable>()

/**
 * Collects the commands that this turn of the event loop writes to the node. Sends them in one
 * system call at the end of the turn.
 */
export function writeTogether(node: Redis): void {
  const { stream } = node as unknown as { stream?: Writable }
  if (stream === undefined || corked.has(stream)) return
  corked.add(stream)
  stream.cork()
  process.nextTick(() => {
    corked.delete(stream)
    stream.uncork()
  })
}
