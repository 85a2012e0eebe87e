import { InvalidArgumentError } from '../../src/index.ts'
import { withoutLogin, withoutLogins } from '../servers/endpoint.ts'
import { EXIT, type Terminal } from './command/command.ts'
import { commands } from './commands.ts'

/**
 * Runs the program. The first argument names the command, which receives the other arguments.
 *
 * @returns the exit code
 */
export async function run(
  args: readonly string[],
  terminal: Terminal,
  version: string,
): Promise<number> {
  const [name, ...others] = args
  if (name === undefined || name === '--help' || name === '-h' || name === 'help') {
    terminal[name === undefined ? 'err' : 'out'](usage())
    return name === undefined ? EXIT.usage : EXIT.ok
  }
  if (name === '--version') {
    terminal.out(`${version}\n`)
    return EXIT.ok
  }
  const command = commands.find((one) => one.name === name)
  if (command === undefined) {
    const known = commands.map((one) => one.name).join(', ')
    // The unknown command may be an option or a URL, which may contain a password.
    const shown = withoutLogin(name)
    terminal.err(`There is no command ${JSON.stringify(shown)}. There are: ${known}.\n`)
    return EXIT.usage
  }
  const dashes = others.indexOf('--')
  const options = dashes === -1 ? others : others.slice(0, dashes)
  if (options.includes('--help') || options.includes('-h')) {
    terminal.out(command.usage)
    return EXIT.ok
  }
  try {
    return await command.run(others, terminal)
  } catch (error) {
    if (!(error instanceof InvalidArgumentError)) throw error
    // The message may quote the value of an option. The value may be a URL with a password.
    terminal.err(`${withoutLogins(error.message)}\nnpx holdfast ${name} --help shows its usage.\n`)
    return EXIT.usage
  }
}

function usage(): string {
  const width = Math.max(...commands.map(({ name }) => name.length))
  const lines = commands.map(({ name, summary }) => `  ${name.padEnd(width)}  ${summary}`)
  return `Usage: npx holdfast <command> [options]

${lines.join('\n')}

  --help     this text; npx holdfast <command> --help shows the usage of a command
  --version  the version of the package
`
}
