import { hostname, userInfo } from 'node:os'
import { InvalidArgumentError } from '../../../src/index.ts'
import type { HolderRow, Inspection, LockDetail } from '../../inspection/inspection.ts'
import { refuseKind } from '../../inspection/refuse-force.ts'
import { readArguments, wholeNumber } from '../command/arguments.ts'
import { type Command, EXIT, type Terminal } from '../command/command.ts'
import { LOOK_OPTIONS, LOOK_USAGE, readCommonOptions, WHERE_USAGE } from '../servers/options.ts'
import { withInspection } from '../servers/with-inspection.ts'
import { escaped } from '../text/words.ts'
import { readName, splitName } from './options.ts'
import { before, type ReleaseResult, released } from './release-text.ts'
import { requestRelease } from './request-release.ts'

const OPTIONS = {
  ...LOOK_OPTIONS,
  force: { type: 'boolean', default: false },
  yes: { type: 'boolean', default: false },
  token: { type: 'string' },
  owner: { type: 'string' },
  ask: { type: 'boolean', default: false },
  reason: { type: 'string' },
  'wait-ms': { type: 'string' },
} as const

const USAGE = `Usage: npx holdfast release <name> --ask|--force [options] [url…]
       npx holdfast release --ask|--force [options] [url…] -- <name>

With --force it takes a lock from the holder that it shows, and never from a later holder. It asks for
confirmation first. With --ask it only asks the holders to release the lock soon. The holders decide.
A name after -- may begin with a dash or look like a URL.

With --ask:
  --ask                      sends each holder a request, and shows if the holder confirmed it
  --reason <text>            the reason, which the holder sees
  --wait-ms <ms>             how long to wait until no asked holder holds the lock
  --owner <owner>            asks only this holder

With --force:
  --force                    takes the lock. The holder is not stopped, and may continue beside the next holder
  --token <n>                only if <n> is still the last token
  --owner=<owner>            only from this holder; needed if there are several. For permits: the owner, or
                             the id of one permit
  --yes                      no confirmation; needed without a terminal

Servers:
${WHERE_USAGE}
Requests:
${LOOK_USAGE}
Output:
  --json                     one line of JSON

Exit codes: 0 the lock was taken, or was free; 1 another owner holds the lock by now, or the answer was not
yes; 2 wrong usage; 3 the outcome is unknown.
With --ask: 0 all asked holders confirmed, or the lock is free; 1 a holder did not confirm; 3 a server could
not be asked. With --ask and --wait-ms: 0 no asked holder holds the lock any more, even if no holder
confirmed; 1 an asked holder still holds the lock, even if it confirmed.
`

interface WantedRelease {
  readonly name: string
  readonly key: string
  readonly owner: string | undefined
  readonly token: number | undefined
}

type ReleaseTarget = Omit<ReleaseResult, 'outcome' | 'fence'>

export const release: Command = {
  name: 'release',
  summary: 'ask the holder of a lock to release it, or take it by force',
  usage: USAGE,
  async run(args, terminal) {
    const { name: given, rest } = splitName('release', args)
    const { values, positionals } = readArguments(rest, OPTIONS)
    const [name, urls] = readName('release', given, positionals)
    const looking = readCommonOptions(values, urls, terminal.env)
    const { owner, token } = values
    const wanted: WantedRelease = {
      name,
      key: looking.keyPrefix + name,
      owner,
      token: token === undefined ? undefined : wholeNumber(token, '--token', 0),
    }
    if (values.ask) {
      const asking = { ...wanted, reason: values.reason, waitMs: waitMsOf(values) }
      return withInspection(looking, terminal, (inspection) =>
        requestRelease(inspection, asking, looking, terminal, whoami(terminal)),
      )
    }
    if (!values.force) {
      throw new InvalidArgumentError(
        `release needs --force, because a release does not stop the holder of ${shown(name)}. npx holdfast inspect shows the holder: end that process, if you can. Or use --ask, which asks the holder to release the lock.`,
      )
    }
    if (values.reason !== undefined || values['wait-ms'] !== undefined) {
      throw new InvalidArgumentError(
        '--reason and --wait-ms need --ask, which takes nothing; got --force.',
      )
    }
    const { prompt } = terminal
    if (!values.yes && prompt === undefined) {
      throw new InvalidArgumentError(
        `release asks before it takes ${shown(name)}, and there is no terminal: add --yes.`,
      )
    }
    return withInspection(looking, terminal, async (inspection) => {
      const print = (done: ReleaseResult, code: number) => {
        terminal.out(
          looking.json ? `${JSON.stringify(done)}\n` : released(done, inspection.address),
        )
        return code
      }
      const seen = await findHolder(inspection, wanted)
      if ('outcome' in seen)
        return print(seen, seen.outcome === 'changed' ? EXIT.findings : EXIT.ok)
      const permit = seen.holder.owner === owner ? undefined : owner
      terminal.err(before(seen.detail, seen.holder, inspection.address, permit))
      if (
        !values.yes &&
        (await prompt?.('Take the lock from this holder? Type yes to confirm: '))?.trim() !== 'yes'
      ) {
        terminal.err('Nothing was done.\n')
        return EXIT.findings
      }
      const { holder, detail } = seen
      const { outcome, fence } = await inspection.forceRelease(
        wanted.key,
        { owner: owner ?? holder.owner, token: detail.token },
        whoami(terminal),
      )
      const facts: ReleaseTarget = { name, key: wanted.key, holder, token: detail.token }
      return print({ ...facts, outcome, fence }, outcome === 'changed' ? EXIT.findings : EXIT.ok)
    })
  },
}

/**
 * Reads `--wait-ms` of `--ask`.
 *
 * @throws `InvalidArgumentError` if `--wait-ms` is invalid, or if `--force`, `--yes` or `--token`
 * is also given
 */
function waitMsOf(values: {
  force: boolean
  yes: boolean
  token?: string | undefined
  'wait-ms'?: string | undefined
}): number | undefined {
  if (values.force) throw new InvalidArgumentError('Give either --ask or --force; got both.')
  if (values.yes || values.token !== undefined) {
    throw new InvalidArgumentError(
      '--yes and --token need --force; got --ask, which takes nothing.',
    )
  }
  const waitMs = values['wait-ms']
  return waitMs === undefined ? undefined : wholeNumber(waitMs, '--wait-ms', 1)
}

/**
 * Returns the lock and the holder that will lose the lock, or the outcome if there is no such
 * holder. Rejects with `InvalidArgumentError` if several holders match, or if a lock of this kind
 * cannot be released by force.
 */
async function findHolder(
  inspection: Inspection,
  { name, key, owner, token }: WantedRelease,
): Promise<ReleaseResult | { readonly detail: LockDetail; readonly holder: HolderRow }> {
  const detail = await inspection.inspect(key)
  const facts: ReleaseTarget = { name, key, holder: null, token: detail?.token ?? null }
  if (detail !== null) refuseKind(detail.kind, key)
  if (detail === null || detail.holders.length === 0) {
    return { ...facts, outcome: 'free', fence: null }
  }
  const isMeant = (one: HolderRow) =>
    owner === undefined || one.owner === owner || one.permits.includes(owner)
  const holders = detail.holders.filter(isMeant)
  const [holder] = holders
  if (holder === undefined || (token !== undefined && token !== detail.token)) {
    return { ...facts, holder: detail.holders[0] ?? null, outcome: 'changed', fence: null }
  }
  if (holders.length > 1) {
    const owners = holders.slice(0, 20).map((one) => `  ${escaped(one.owner)}`)
    throw new InvalidArgumentError(
      `${shown(name)} has ${holders.length} holders: choose one with --owner=<owner>.\n${owners.join('\n')}`,
    )
  }
  return { detail, holder }
}

const shown = (name: string): string => `"${escaped(name)}"`

function whoami({ env }: Terminal): string {
  let user = env.USER ?? 'unknown'
  try {
    user = userInfo().username
  } catch {
    // In a container, the user id may have no name.
  }
  return `${user}@${hostname()}`
}
