import type { Words } from '../../errors.ts'

export const OF_SEMAPHORE: Words = {
  noun: 'Semaphore',
  unavailable: 'This says nothing about how many permits are available.',
}

export function permitsIn(count: number): string {
  return `${count} ${count === 1 ? 'permit' : 'permits'}`
}
