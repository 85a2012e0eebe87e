import type { Dashboard } from '../../tools/dashboard/dashboard.ts'
import { atEnd } from '../support/lifetime.ts'

export interface Message {
  readonly id: string
  readonly isAll: boolean
  readonly status: { readonly state: string; readonly error: string | null }
  readonly rows: readonly { readonly key: string; readonly state: string }[]
  readonly gone: readonly string[]
}

/** A viewer that reads the stream of a dashboard, message by message, at its own speed. */
export class Viewer {
  readonly messages: Message[] = []
  comments = 0
  isOver = false
  readonly #reader: ReadableStreamDefaultReader<Uint8Array>
  readonly #decoder = new TextDecoder()
  #rest = ''

  constructor(body: ReadableStream<Uint8Array>) {
    this.#reader = body.getReader()
    atEnd(() => this.leave(), { beforeCheck: true })
  }

  /** All keys in the viewer's table now. */
  get keys(): string[] {
    const keys = new Set<string>()
    for (const { isAll, rows, gone } of this.messages) {
      if (isAll) keys.clear()
      for (const key of gone) keys.delete(key)
      for (const { key } of rows) keys.add(key)
    }
    return [...keys].sort()
  }

  /** Reads until the stream is over. */
  async follow(): Promise<void> {
    while (!this.isOver) await this.next()
  }

  /** Reads the next message. */
  async next(): Promise<void> {
    const { done, value } = await this.#reader.read()
    if (done) {
      this.isOver = true
      return
    }
    this.#rest += this.#decoder.decode(value)
    const parts = this.#rest.split('\n\n')
    this.#rest = parts.pop() ?? ''
    for (const part of parts) {
      if (part.startsWith(':')) this.comments++
      const data = /^data: (.*)$/m.exec(part)?.[1]
      const id = /^id: (.*)$/m.exec(part)?.[1] ?? ''
      if (data !== undefined) this.messages.push({ id, ...JSON.parse(data) })
    }
  }

  async leave(): Promise<void> {
    await this.#reader.cancel().catch(() => undefined)
  }
}

export async function view(dashboard: Dashboard, seen?: string): Promise<Viewer> {
  const headers = seen === undefined ? {} : { 'last-event-id': seen }
  const response = await dashboard.fetch(new Request('http://d/locks/api/stream', { headers }))
  if (response.body === null) throw new Error(`no stream: ${response.status}`)
  return new Viewer(response.body)
}
