/** Returns true if one byte of a name matches this part of the pattern. */
type GlobPart = (byte: number) => boolean

const STAR = 'star'
const ANY: GlobPart = () => true

/**
 * Returns a function that tests if a name matches a pattern of `SCAN MATCH`. The result is the same
 * as in Redis, which compares bytes, and accepts an unclosed class or a reversed range.
 *
 * @see `stringmatchlen` in util.c of Redis
 */
export function matcherOf(pattern: string): (name: string) => boolean {
  const parts = partsOf(Buffer.from(pattern))
  return (name) => matches(parts, Buffer.from(name))
}

/** Returns the text before the first special character of the pattern. */
export function prefixOf(pattern: string): string {
  return /^[^*?[\\]*/.exec(pattern)?.[0] ?? ''
}

function partsOf(pattern: Buffer): (GlobPart | typeof STAR)[] {
  const parts: (GlobPart | typeof STAR)[] = []
  for (let i = 0; i < pattern.length; i++) {
    const char = String.fromCharCode(pattern[i] as number)
    if (char === '*') {
      if (parts.at(-1) !== STAR) parts.push(STAR)
    } else if (char === '?') {
      parts.push(ANY)
    } else if (char === '[') {
      const { part, last } = classAt(pattern, i + 1)
      parts.push(part)
      i = last
    } else {
      if (char === '\\' && i + 1 < pattern.length) i++
      const wanted = pattern[i]
      parts.push((byte) => byte === wanted)
    }
  }
  return parts
}

/**
 * Reads a class such as `[a-z]`, from the byte after `[`. `last` is the index of the closing `]`, or
 * the length of the pattern if `]` is missing.
 */
function classAt(pattern: Buffer, start: number): { part: GlobPart; last: number } {
  const isNegated = pattern[start] === 0x5e
  const ranges: [first: number, last: number][] = []
  let i = isNegated ? start + 1 : start
  for (; i < pattern.length && pattern[i] !== 0x5d; i++) {
    const remaining = pattern.length - i
    if (pattern[i] === 0x5c && remaining >= 2) i++
    else if (pattern[i + 1] === 0x2d && remaining >= 3) {
      ranges.push([pattern[i] as number, pattern[i + 2] as number])
      i += 2
      continue
    }
    ranges.push([pattern[i] as number, pattern[i] as number])
  }
  const isIn = (byte: number) =>
    ranges.some(([a, b]) => byte >= Math.min(a, b) && byte <= Math.max(a, b))
  return { part: (byte) => isIn(byte) !== isNegated, last: i }
}

/**
 * True if the whole name matches. After a mismatch, goes back only to the last star, because the
 * last star can also match everything that an earlier star could match.
 */
function matches(parts: readonly (GlobPart | typeof STAR)[], name: Buffer): boolean {
  let [at, star, resume] = [0, -1, 0]
  for (let i = 0; i < name.length; ) {
    const part = parts[at]
    if (part === STAR) {
      star = at++
      resume = i
    } else if (part?.(name[i] as number)) {
      at++
      i++
    } else if (star !== -1) {
      at = star + 1
      i = ++resume
    } else return false
  }
  while (parts[at] === STAR) at++
  return at === parts.length
}
