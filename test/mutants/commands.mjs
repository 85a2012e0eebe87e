const LIST = 'test/commands/list.test.ts'
const INSPECT = 'test/commands/inspect.test.ts'
const WATCH = 'test/commands/watch.test.ts'
const LEAKS = 'test/commands/leaks.test.ts'
const LOCKS = 'src/extras/cli/locks'

/** Of the commands that look at locks. */
export const commands = [
  {
    id: 'commands-steered-terminal',
    mistake: 'Characters of names that steer a terminal are printed as they are.',
    file: 'src/extras/cli/text/words.ts',
    search: String.raw`/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\\]/gu`,
    replace: String.raw`/[\p{Cf}\p{Zl}\p{Zp}\\]/gu`,
    test: LIST,
    name: 'no line is longer than the terminal, and nothing steers it',
  },
  {
    id: 'commands-prefix-as-pattern',
    mistake: 'A star in a keyPrefix stands for anything.',
    file: `${LOCKS}/options.ts`,
    search: 'literally(keyPrefix) +',
    replace: 'keyPrefix +',
    test: LIST,
    name: 'a pattern, what is held and what is waited for narrow it',
  },
  {
    id: 'commands-outage-is-empty',
    mistake: 'A server that cannot be asked is told as one without locks.',
    file: `${LOCKS}/with-deployment.ts`,
    search: 'return EXIT.failed',
    replace: 'return EXIT.ok',
    test: LIST,
    name: 'what cannot be asked is told, and is not an empty list',
  },
  {
    id: 'commands-anew-is-renewed',
    mistake: 'A lock that was let go and acquired again between two looks counts as renewed.',
    file: 'src/extras/deployment/renewals.ts',
    search: 'before !== undefined && first.token === second.token',
    replace: 'before !== undefined',
    test: INSPECT,
    name: 'an owner that had let go in between is not taken for renewed',
  },
  {
    id: 'commands-pastes-password',
    mistake: 'A command to paste has the password of the URL in it.',
    file: `${LOCKS}/where-words.ts`,
    search: 'shellWord(/[@?]/.test(url) ? withoutLogin(url) : url)',
    replace: 'shellWord(url)',
    test: INSPECT,
    name: 'a command to paste leads to the same server, without a password',
  },
  {
    id: 'commands-living-leak',
    mistake: 'A lease of a fixed length is a leak, although its process lives.',
    file: 'src/extras/deployment/find-leaks.ts',
    search: 'process === null && !isRedisson',
    replace: '!isRedisson',
    test: LEAKS,
    name: 'where all is well nothing is found',
  },
  {
    id: 'commands-silent-leak',
    mistake: 'A holder that does not tell of itself is a leak, although it renews.',
    file: 'src/extras/deployment/find-leaks.ts',
    search: "renewal === 'not-renewed' && ",
    replace: '',
    test: LEAKS,
    name: 'where all is well nothing is found',
  },
  {
    id: 'commands-outage-ends-watch',
    mistake: 'An outage ends watch.',
    file: `${LOCKS}/follow.ts`,
    search: 'if (isFirst) throw error',
    replace: 'throw error',
    test: WATCH,
    name: 'an outage is told once, and after it things go on',
  },
  {
    id: 'commands-outage-each-look',
    mistake: 'watch tells of an outage at each look.',
    file: `${LOCKS}/changes.ts`,
    search: 'if (before.failure === null) yield',
    replace: 'yield',
    test: WATCH,
    name: 'an outage that lasts is told once',
  },
  {
    id: 'commands-keeps-screen',
    mistake: 'watch leaves the terminal without a cursor, on its own screen.',
    file: `${LOCKS}/watch.ts`,
    search: 'if (isOpen) terminal.out(LEAVE)',
    replace: 'if (!isOpen) terminal.out(LEAVE)',
    test: WATCH,
    name: 'on a terminal it is drawn in place, and the screen from before comes back',
  },
]
