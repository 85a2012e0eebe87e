import { scenarios as uncontended } from './uncontended.mjs'
import { scenarios as waiters } from './waiters.mjs'

export const scenarios = [...uncontended, ...waiters]
