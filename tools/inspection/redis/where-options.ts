import { addressOf, type Endpoint } from '../../servers/endpoint.ts'
import type { Where } from '../../servers/where.ts'
import { shellWord } from '../shell-word.ts'

/**
 * Returns the options of `npx holdfast` that name the servers, to print a command. The options
 * contain no password. Each value follows `=`, because a value may begin with a dash.
 */
export function whereOptions(where: Where): string {
  if (where.kind === 'sentinel') {
    const { sentinels, masterName, login, tls } = where
    return [
      ...sentinels.flatMap((one) => option('sentinel', urlOf(one))),
      ...option('master-name', masterName),
      ...option('user', login.user),
      ...option('sentinel-user', sentinels[0]?.login.user),
      ...(tls === undefined ? [] : ['--tls']),
    ].join(' ')
  }
  const { kind, servers } = where
  return [
    ...(kind === 'cluster' ? ['--cluster'] : []),
    ...option('user', servers[0]?.login.user),
    ...servers.flatMap((one) => option('url', urlOf(one))),
  ].join(' ')
}

/** True if a login for the servers of the locks has a password. Ignores logins for Sentinels. */
export function hasPassword(where: Where): boolean {
  return where.kind === 'sentinel'
    ? where.login.pass !== undefined
    : where.servers.some(({ login }) => login.pass !== undefined)
}

function option(name: string, value: string | undefined): string[] {
  return value === undefined ? [] : [`--${name}=${shellWord(value)}`]
}

function urlOf(endpoint: Endpoint): string {
  const { path, database, tls } = endpoint
  if (path !== undefined) return path
  const scheme = tls === undefined ? 'redis' : 'rediss'
  return `${scheme}://${addressOf(endpoint)}${database === 0 ? '' : `/${database}`}`
}
