import type { Args } from './scripts/script.ts'

/** The last arguments of `acquire` and `vote`, left out where they are the usual ones. */
export function withCounts(
  args: (string | number)[],
  holds: number,
  reserve: number,
  token: number | undefined,
): Args {
  if (token !== undefined) args.push(holds, reserve, token)
  else if (reserve > 0) args.push(holds, reserve)
  return args
}
