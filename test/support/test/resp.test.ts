import { encodeCommand, FrameReader, stringsOf } from '../resp.ts'

const framesOf = (text: string) =>
  new FrameReader().push(Buffer.from(text)).map(({ raw, kind }) => [kind, raw.toString()])

describe('a stream that is cut into frames', () => {
  test.each([
    ['a simple reply', '+OK\r\n', '+'],
    ['an error', '-ERR no\r\n', '-'],
    ['an integer', ':-12\r\n', ':'],
    ['a bulk string', '$4\r\na\r\nb\r\n', '$'],
    ['a RESP2 null', '$-1\r\n', '$'],
    ['a RESP2 null array', '*-1\r\n', '*'],
    ['an empty array', '*0\r\n', '*'],
    ['a nested array', '*2\r\n*1\r\n:1\r\n$1\r\nx\r\n', '*'],
    ['a RESP3 map', '%1\r\n+k\r\n*1\r\n_\r\n', '%'],
    ['a RESP3 set', '~2\r\n#t\r\n,1.5\r\n', '~'],
    ['a verbatim string', '=5\r\ntxt:x\r\n', '='],
    ['a push', '>2\r\n$7\r\nmessage\r\n$1\r\nx\r\n', '>'],
    ['a reply with attributes', '|1\r\n+ttl\r\n:5\r\n$1\r\nx\r\n', '$'],
  ])('%s is one frame, in whatever pieces it arrives', (_, text, kind) => {
    expect(framesOf(`${text}:1\r\n`)).toEqual([
      [kind, text],
      [':', ':1\r\n'],
    ])
    const reader = new FrameReader()
    const byteByByte = [...Buffer.from(text)].flatMap((byte) => reader.push(Buffer.from([byte])))
    expect(byteByByte.map(({ raw }) => raw.toString())).toEqual([text])
  })

  test('a command is read as it was written, whatever bytes it contains', () => {
    const args = ['EVAL', 'return\r\n1', '', 'ümläut', '$3']
    const [frame] = new FrameReader().push(encodeCommand(args))
    expect(frame && stringsOf(frame)).toEqual(args)
  })
})
