const LIST = 'test/commands/list.test.ts'
const INSPECT = 'test/commands/inspect.test.ts'
const WATCH = 'test/commands/watch.test.ts'
const LEAKS = 'test/commands/commands-leaks.test.ts'
const LOCKS = 'tools/cli/locks'

/** Mistakes of the commands that show locks. */
export const commands = [
  {
    id: 'commands-steered-terminal',
    mistake: 'The commands print characters of names that control the terminal.',
    file: 'tools/cli/text/words.ts',
    search: String.raw`/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\\]/gu`,
    replace: String.raw`/[\p{Cf}\p{Zl}\p{Zp}\\]/gu`,
    test: LIST,
    name: 'list prints no line longer than the terminal, and no name controls the terminal',
  },
  {
    id: 'commands-prefix-as-pattern',
    mistake: 'A star in a keyPrefix matches any text.',
    file: `${LOCKS}/options.ts`,
    search: 'literally(keyPrefix) +',
    replace: 'keyPrefix +',
    test: LIST,
    name: 'list filters by pattern, --held, --contended and --limit, and shows names without the keyPrefix',
  },
  {
    id: 'commands-outage-is-empty',
    mistake: 'A server that does not answer is reported as a server without locks.',
    file: 'tools/cli/servers/with-inspection.ts',
    search: 'return EXIT.failed',
    replace: 'return EXIT.ok',
    test: LIST,
    name: 'list reports an unreachable server, a wrong option and missing rights instead of an empty list',
  },
  {
    id: 'commands-anew-is-renewed',
    mistake: 'A lock that was released and acquired again between two looks counts as renewed.',
    file: 'tools/inspection/renewals.ts',
    search: 'before !== undefined && first.token === second.token',
    replace: 'before !== undefined',
    test: INSPECT,
    name: 'inspect does not report a renewal if the owner released the lock in between',
  },
  {
    id: 'commands-pastes-password',
    mistake: 'A printed command has the password of the URL.',
    file: 'tools/cli/servers/where-words.ts',
    search: 'shellWord(withoutPassword(url))',
    replace: 'shellWord(url)',
    test: INSPECT,
    name: 'the printed command has the server and the user but no password, and a shell reads its name unchanged',
  },
  {
    id: 'commands-living-leak',
    mistake: 'A fixed lease counts as a leak, although its process lives.',
    file: 'tools/inspection/find-leaks.ts',
    search: 'process === null && !isRedisson',
    replace: '!isRedisson',
    test: LEAKS,
    name: 'leaks finds nothing among healthy locks of all kinds',
  },
  {
    id: 'commands-silent-leak',
    mistake: 'A holder that reports nothing about itself counts as a leak, although it renews.',
    file: 'tools/inspection/find-leaks.ts',
    search: "renewal === 'not-renewed' && ",
    replace: '',
    test: LEAKS,
    name: 'leaks finds nothing among healthy locks of all kinds',
  },
  {
    id: 'commands-outage-ends-watch',
    mistake: 'An outage ends watch.',
    file: `${LOCKS}/follow.ts`,
    search: 'if (isFirst) throw error',
    replace: 'throw error',
    test: WATCH,
    name: 'watch reports an outage once, and continues afterwards',
  },
  {
    id: 'commands-outage-each-look',
    mistake: 'watch reports an outage at each look.',
    file: `${LOCKS}/changes.ts`,
    search: 'if (before.failure === null) yield',
    replace: 'yield',
    test: WATCH,
    name: 'an outage that lasts is reported once, and its end is reported',
  },
  {
    id: 'commands-keeps-screen',
    mistake: 'watch leaves the terminal without a cursor, and on the screen of watch.',
    file: `${LOCKS}/watch.ts`,
    search: 'if (isOpen) terminal.out(LEAVE)',
    replace: 'if (!isOpen) terminal.out(LEAVE)',
    test: WATCH,
    name: 'watch draws in place on a terminal, and restores the screen at its end',
  },
]
