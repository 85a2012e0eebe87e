import { doctor } from '../doctor/doctor.ts'
import { bench } from './bench/bench.ts'
import type { Command } from './command/command.ts'
import { dashboard } from './dashboard/dashboard.ts'
import { history } from './history/history.ts'
import { inspect } from './locks/inspect.ts'
import { leaks } from './locks/leaks.ts'
import { list } from './locks/list.ts'
import { release } from './locks/release.ts'
import { watch } from './locks/watch.ts'

/** All commands, in the order of `--help`. */
export const commands: readonly Command[] = [
  list,
  inspect,
  watch,
  leaks,
  release,
  history,
  bench,
  doctor,
  dashboard,
]
