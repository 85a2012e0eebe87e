import type { Command } from './command/command.ts'
import { doctor } from './doctor/doctor.ts'

/** All commands of the program, in the order in which they are listed. */
export const commands: readonly Command[] = [doctor]
