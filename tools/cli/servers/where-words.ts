import { shellWord } from '../../inspection/shell-word.ts'
import { withoutPassword } from '../../servers/endpoint.ts'

/**
 * Returns options for a printed command: the given `--key-prefix`, and the given options for the
 * servers and the connection. The options contain no password. Each value follows `=`, because a
 * value may begin with a dash.
 */
export function whereWords(
  values: Readonly<Record<string, unknown>>,
  urls: readonly string[],
): string {
  const words: string[] = []
  const given = values as { url?: string[]; sentinel?: string[]; [name: string]: unknown }
  for (const name of [
    'key-prefix',
    'user',
    'cacert',
    'cert',
    'key',
    'master-name',
    'sentinel-user',
  ]) {
    const value = given[name]
    if (typeof value === 'string' && value !== '') words.push(`--${name}=${shellWord(value)}`)
  }
  for (const name of ['tls', 'cluster']) if (given[name] === true) words.push(`--${name}`)
  for (const list of given.sentinel ?? []) {
    const names = list.split(',').map((one) => withoutPassword(one.trim()))
    words.push(`--sentinel=${shellWord(names.join(','))}`)
  }
  for (const url of [...(given.url ?? []), ...urls]) {
    words.push(`--url=${shellWord(withoutPassword(url))}`)
  }
  return words.join(' ')
}
