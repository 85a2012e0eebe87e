import { Redis, type RedisOptions } from 'ioredis'
import type { Endpoint } from './endpoint.ts'
import { handleSocketErrors } from './socket-errors.ts'

// ioredis 5 and 6 declare their constructors differently. This type fits both.
const makeRedis = Redis as unknown as new (options: RedisOptions) => Redis

/** A connection to one server, which never repeats a request. */
export interface ServerClient {
  readonly endpoint: Endpoint
  /**
   * Sends one command, and returns its reply. Rejects with an error of the server or of the
   * network, or after the time limit.
   */
  send(command: string, ...args: readonly (string | number)[]): Promise<unknown>
  /**
   * Sends many commands in one write, and returns their replies. The reply of a refused command is
   * an Error.
   *
   * @param as `bytes` for replies that are not text
   * @returns rejects if the network fails, or after the time limit
   */
  sendAll(commands: readonly RedisCommand[], as?: 'text' | 'bytes'): Promise<unknown[]>
  /** The number of commands so far, and of bytes on the network. */
  readonly cost: { readonly commands: number; readonly bytes: number }
  close(): void
}

export type RedisCommand = readonly [command: string, ...args: (string | number)[]]

/**
 * Matches the error of `AUTH` on a server without a password. `openServer` ignores this error,
 * because a password in REDISCLI_AUTH is sent to all servers.
 */
const NEEDS_NO_PASSWORD = /called without any password configured/

/** Matches errors of `PING` from a server that also refuses every other command. */
const KEEPS_OUT = /^(NOAUTH|DENIED|ERR max number of clients)/

/**
 * Connects to a server and logs in, without retries.
 *
 * @param timeoutMs the time limit in milliseconds: for this call and all requests together, or for
 * each request with `of-each`
 * @returns rejects with an Error that states the reason, without the password
 */
export async function openServer(
  endpoint: Endpoint,
  timeoutMs: number,
  timeIs: 'of-all' | 'of-each' = 'of-all',
): Promise<ServerClient> {
  const { login, database, tls } = endpoint
  const startedAt = performance.now()
  let broken: Error | undefined
  let commands = 0
  const client = new makeRedis(settingsOf(endpoint, timeoutMs))
  handleSocketErrors(client)
  // The first error is the cause. Later errors only report a closed connection.
  client.on('error', (error: Error) => {
    broken ??= error
  })
  const within = <T>(work: Promise<T>): Promise<T> => {
    let timer: NodeJS.Timeout | undefined
    const late = new Promise<never>((_, reject) => {
      const error = new Error(`no answer within ${timeoutMs} ms`)
      const usedMs = timeIs === 'of-all' ? performance.now() - startedAt : 0
      timer = setTimeout(() => reject(error), Math.max(0, timeoutMs - usedMs))
    })
    return Promise.race([work, late]).finally(() => clearTimeout(timer))
  }
  const send = async (command: string, ...args: readonly (string | number)[]) => {
    commands += 1
    try {
      return await within(client.call(command, ...args))
    } catch (error) {
      throw isReply(error) || isLate(error)
        ? error
        : networkError(broken ?? (error as Error), endpoint)
    }
  }
  try {
    await within(client.connect()).catch((error: Error) => {
      if (!isLate(error)) throw networkError(broken ?? error, endpoint)
      // A server without TLS reads the TLS handshake as the start of a command. The server waits
      // for the rest of the command, and never answers.
      throw tls === undefined ? error : new Error(`${error.message}; does the server use TLS?`)
    })
    if (login.pass !== undefined) {
      const names = login.user === undefined ? [] : [login.user]
      await send('AUTH', ...names, login.pass).catch((error: Error) => {
        if (!NEEDS_NO_PASSWORD.test(error.message)) throw error
      })
    }
    await send('PING').catch((error) => {
      if (!isReply(error) || KEEPS_OUT.test((error as Error).message)) throw error
    })
    if (database !== 0) await send('SELECT', database)
  } catch (error) {
    client.disconnect()
    throw error
  }
  const sendAll = async (all: readonly RedisCommand[], as = 'text') => {
    if (all.length === 0) return []
    commands += all.length
    const pipeline = client.pipeline()
    for (const [command, ...args] of all) {
      if (as === 'bytes') pipeline.callBuffer(command, ...args)
      else pipeline.call(command, ...args)
    }
    const replies = (await within(pipeline.exec())) ?? []
    return replies.map(([error, reply]) => {
      if (error !== null && !isReply(error)) throw networkError(broken ?? error, endpoint)
      return error ?? reply
    })
  }
  const { stream } = client
  return {
    endpoint,
    send,
    sendAll,
    get cost() {
      return { commands, bytes: stream.bytesRead + stream.bytesWritten }
    },
    close: () => client.disconnect(),
  }
}

/**
 * Returns the options of ioredis, without the login. `openServer` sends `AUTH` as a command
 * instead, so that it gets a refusal as a reply and not as an event.
 */
function settingsOf({ host, port, path, tls }: Endpoint, timeoutMs: number): RedisOptions {
  const where = path === undefined ? { host, port } : { path }
  const { ca, cert, key } = tls ?? {}
  const files = { ...(ca && { ca }), ...(cert && { cert }), ...(key && { key }) }
  return {
    ...where,
    ...(tls !== undefined && { tls: files }),
    lazyConnect: true,
    connectTimeout: timeoutMs,
    disconnectTimeout: 100,
    enableReadyCheck: false,
    enableOfflineQueue: false,
    autoResendUnfulfilledCommands: false,
    maxRetriesPerRequest: 0,
    retryStrategy: () => null,
    disableClientInfo: true,
    // ioredis 6 would send `HELLO` before the login. With protocol 2, ioredis sends no `HELLO`.
    ...({ protocol: 2 } as object),
  }
}

/** True if the server sent the error. False for errors of the network. */
export function isReply(error: unknown): boolean {
  return error instanceof Error && error.name === 'ReplyError'
}

function isLate(error: unknown): boolean {
  return error instanceof Error && error.message.startsWith('no answer within')
}

/**
 * Returns an error for users, with a hint if the cause is known. Replaces messages of ioredis about
 * retries, because this client never retries.
 */
function networkError(error: Error, { tls }: Endpoint): Error {
  const { message } = error
  if (/Connection is closed|max retries|isn't writeable|ECONNRESET|EPIPE/.test(message)) {
    const hint = tls === undefined ? '; does it need TLS (--tls)?' : ''
    return new Error(`the server closed the connection without an answer${hint}`)
  }
  if (/wrong version number|packet length too long/.test(message)) {
    return new Error(`the server does not use TLS (${message})`)
  }
  if (/certificate required/.test(message)) {
    return new Error('the server requires a client certificate: use --cert and --key')
  }
  return new Error(message || error.name)
}
