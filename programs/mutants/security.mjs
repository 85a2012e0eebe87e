const SECRETS = 'test/security/secrets.test.ts'

/** Mistakes that show secrets in texts. */
export const security = [
  {
    id: 'login-in-the-cause',
    mistake: 'The cause of an error has the password of a refused login.',
    file: 'src/servers/redis/connection/hide-login.ts',
    search: "args: ['***'] }",
    replace: 'args: one.command?.args }',
    test: SECRETS,
    name: 'a client with ',
  },
  {
    id: 'query-is-shown',
    mistake: 'A message shows the query of a URL, which can have a password.',
    file: 'src/options/redis-url.ts',
    search: ".replace(/\\?.*$/s, '?***')",
    replace: '',
    test: SECRETS,
    name: 'a client with ',
  },
  {
    id: 'url-of-another-option',
    mistake: 'A URL in the place of another value is printed with its login.',
    file: 'tools/cli/run.ts',
    search: 'withoutLogins(error.message)',
    replace: 'error.message',
    test: SECRETS,
    name: 'the commands with ',
  },
  {
    id: 'history-shows-login',
    mistake: 'readHistory() rejects with an error that has the password of a refused login.',
    file: 'tools/history/read-history.ts',
    search: 'delete (reported as { command?: unknown }).command',
    replace: 'void 0',
    test: SECRETS,
    name: 'the history, the metrics and the traces',
  },
]
