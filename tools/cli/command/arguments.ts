import { type ParseArgsConfig, parseArgs } from 'node:util'
import { InvalidArgumentError } from '../../../src/index.ts'

/** @throws `InvalidArgumentError` for an unknown option, and for a missing or superfluous value */
export function readArguments<T extends NonNullable<ParseArgsConfig['options']>>(
  args: readonly string[],
  options: T,
): ReturnType<typeof parseArgs<{ options: T; allowPositionals: true; strict: true }>> {
  try {
    return parseArgs({ args: [...args], options, allowPositionals: true, strict: true })
  } catch (error) {
    throw new InvalidArgumentError((error as Error).message)
  }
}

/** @throws `InvalidArgumentError` unless the value is a whole number of at least `least` */
export function wholeNumber(value: string, option: string, least: number): number {
  const number = Number(value)
  if (/^\d+$/.test(value) && Number.isSafeInteger(number) && number >= least) return number
  throw new InvalidArgumentError(
    `${option} must be a whole number of at least ${least}; got ${JSON.stringify(value)}.`,
  )
}

/** @throws `InvalidArgumentError` unless the value is one of the words */
export function oneOf<T extends string>(value: string, option: string, words: readonly T[]): T {
  const found = words.find((word) => word === value)
  if (found !== undefined) return found
  throw new InvalidArgumentError(
    `${option} must be ${words.join(' or ')}; got ${JSON.stringify(value)}.`,
  )
}
