/**
 * Splits a byte stream of the Redis protocol (RESP2 and RESP3) into frames. The streamed types of RESP3 are missing,
 * because no server sends them.
 */
const CRLF = '\r\n'

/** One command, reply or push message, with its bytes. */
export interface Frame {
  raw: Buffer
  /** The first byte: `*` for a command, `>` for a push, `-` for an error … */
  kind: string
}

/** Collects chunks of bytes and returns complete frames. */
export class FrameReader {
  #rest: Buffer = Buffer.alloc(0)

  push(chunk: Buffer): Frame[] {
    const data = this.#rest.length === 0 ? chunk : Buffer.concat([this.#rest, chunk])
    const frames: Frame[] = []
    let start = 0
    for (let end = frameEnd(data, start); end !== -1; end = frameEnd(data, start)) {
      const raw = data.subarray(start, end)
      frames.push({ raw, kind: kindOf(raw) })
      start = end
    }
    this.#rest = data.subarray(start)
    return frames
  }
}

/** Encodes a command as an array of bulk strings. */
export function encodeCommand(args: readonly string[]): Buffer {
  const bulk = (arg: string) => `$${Buffer.byteLength(arg)}${CRLF}${arg}${CRLF}`
  return Buffer.from(`*${args.length}${CRLF}${args.map(bulk).join('')}`)
}

/** Returns the strings of a flat array frame. Each nested value becomes ''. */
export function stringsOf({ raw, kind }: Frame): string[] {
  if (kind !== '*' && kind !== '>' && kind !== '~') return raw.toString().trim().split(' ')
  const strings: string[] = []
  for (let at = lineEnd(raw, 0); at < raw.length; ) {
    const end = frameEnd(raw, at)
    if (end === -1) break
    const head = String.fromCharCode(raw[at] ?? 0)
    const body = head === '$' || head === '=' ? lineEnd(raw, at) : at + 1
    strings.push('*>~%'.includes(head) ? '' : raw.toString('utf8', body, end - 2))
    at = end
  }
  return strings
}

/** Returns the end of the frame that starts at `start`, or -1 if bytes are missing. */
function frameEnd(data: Buffer, start: number): number {
  if (start >= data.length) return -1
  const afterLine = lineEnd(data, start)
  if (afterLine === -1) return -1
  const kind = String.fromCharCode(data[start] ?? 0)
  const size = () => Number(data.toString('latin1', start + 1, afterLine - 2))
  switch (kind) {
    case '$':
    case '=':
    case '!': {
      const end = size() < 0 ? afterLine : afterLine + size() + 2
      return end > data.length ? -1 : end
    }
    case '*':
    case '>':
    case '~':
      return skip(data, afterLine, size())
    case '%':
      return skip(data, afterLine, size() * 2)
    case '|': // attributes precede the value that they describe, and are part of its frame
      return skip(data, afterLine, size() * 2 + 1)
    default:
      return afterLine
  }
}

function skip(data: Buffer, start: number, frames: number): number {
  let at = start
  for (let i = 0; i < frames && at !== -1; i++) at = frameEnd(data, at)
  return at
}

function lineEnd(data: Buffer, start: number): number {
  const at = data.indexOf(CRLF, start, 'latin1')
  return at === -1 ? -1 : at + 2
}

function kindOf(raw: Buffer): string {
  if (raw[0] !== 0x7c) return String.fromCharCode(raw[0] ?? 0)
  const size = Number(raw.toString('latin1', 1, lineEnd(raw, 0) - 2))
  return String.fromCharCode(raw[skip(raw, lineEnd(raw, 0), size * 2)] ?? 0)
}
