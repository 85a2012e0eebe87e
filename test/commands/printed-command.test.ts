import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { shellWord } from '../../tools/inspection/shell-word.ts'
import { holdfast } from '../doctor/diagnose.ts'
import type { Inspected } from '../support/printed.ts'
import { newSetting } from './setting.ts'

const { server, newClient } = newSetting()
const program = join(__dirname, '../../dist/esm/tools/cli/main.js')

const NAMES = {
  'a line break before a hex digit': 'job\n2',
  'tabs between letters': 'a\tb\tc',
  'a dash at its beginning': '-x',
  'an option as its name': '--force',
  'the end of options as its name': '--',
  'a URL as its name': 'redis://127.0.0.1:1',
  'quotes, blanks and a dollar': `it's "$HOME" $(id) \`id\` !1`,
  'a backslash at its end': 'a\\',
  'an emoji of several parts before a digit': '👨‍👩‍👧1',
  'marks that turn the text around': '\u202Eabc\u2066f',
  'letters beyond ASCII': 'Größe/日本',
  'wildcards and braces': '*?[a-z]{a,b}~#&;|<>',
  'an equals sign': 'a=b',
  'a byte order mark before a hex digit': '\uFEFFdeadbeef',
}

/** Runs the command in a real shell, with the program of this package instead of npx. */
async function paste(command: string): Promise<{ code: number; err: string }> {
  const script = `npx() { shift; ${shellWord(process.execPath)} ${shellWord(program)} "$@"; }`
  // There is no terminal that could confirm the command.
  const line = command.replace('--force', '--force --yes')
  try {
    await promisify(execFile)('bash', ['-c', `${script}\n${line}`])
    return { code: 0, err: '' }
  } catch (error) {
    const { code, stderr } = error as { code: number; stderr: string }
    return { code, err: stderr }
  }
}

test.each(Object.entries(NAMES))(
  'the printed command frees the lock with %s, and no other lock',
  async (_, name) => {
    const client = newClient()
    await client.getLock(name).lock()
    await client.getLock('other').lock()
    const inspecting = await holdfast([
      'inspect',
      '--json',
      '--look-ms=0',
      `--url=${server.url}`,
      '--',
      name,
    ])
    const { toFree } = JSON.parse(inspecting.out) as Inspected
    expect(toFree.command).not.toMatch(/[^\P{Cc}]/u)
    expect(await paste(toFree.command as string)).toEqual({ code: 0, err: '' })
    expect(await server.admin.exists(name)).toBe(0)
    expect(await server.admin.exists('other')).toBe(1)
  },
)

test('the printed command works for an owner that begins with a dash', async () => {
  const owners = ['-GzBd6S1rW0yqPzJ0QYpN:1', '-HzBd6S1rW0yqPzJ0QYpN:1']
  await server.admin.hset('rw', 'mode', 'read')
  for (const owner of owners) {
    await server.admin.hset('rw', owner, '1')
    await server.admin.set(`{rw}:${owner}:rwlock_timeout:1`, '1', 'PX', 30_000)
  }
  await server.admin.pexpire('rw', 30_000)
  const { out } = await holdfast(['inspect', 'rw', server.url, '--json', '--look-ms=0'])
  const { toFree } = JSON.parse(out) as Inspected
  expect(await paste(toFree.command as string)).toEqual({ code: 0, err: '' })
  expect(await server.admin.hlen('rw')).toBe(2)
})

test('a name with a NUL byte has no command, because no shell can pass it', async () => {
  await newClient().getLock('a\0b').lock()
  // The program runs in this process, so no shell handles the name.
  const { out } = await holdfast(['inspect', '--json', '--look-ms=0', server.url, '--', 'a\0b'])
  const { toFree } = JSON.parse(out) as Inspected
  expect(toFree.command).toBeNull()
  expect(toFree.sentences.at(-1)).toContain('NUL byte')
})
