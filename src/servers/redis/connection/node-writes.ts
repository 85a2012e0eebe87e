import type { Redis } from 'ioredis'

/** A command of ioredis before it is written. */
interface Written {
  readonly name: string
  args: unknown[]
}

/**
 * Called before each write of the command to a node of a cluster. After a redirection, the command
 * is written to another node.
 */
export type OnWrite = (node: Redis, command: Written) => void

/**
 * The callback for the command that is being made. ioredis makes and sends a command in one step,
 * so the callback is stored here first.
 */
let making: OnWrite | undefined
const watched = new WeakMap<Written, OnWrite>()

/**
 * Calls `onWrite` before each write of a command. A cluster client follows redirections with the
 * same arguments. But a deadline depends on the clock of one node, so the arguments are changed
 * before each write. Because ioredis has no option for this, a method of ioredis is replaced.
 *
 * @param send makes one command of that name, by a cluster client
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
 * Makes a node call the `onWrite` of each command before it writes the command. Called before the
 * first command of the node.
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
