// Counts the rows that need attention, for the large numbers above the table.
import { listedAt } from './columns.js'
import { isWaitedFor } from './concerns.js'
import { seen } from './stream.js'

/**
 * Counts over all rows. `levels` has one character for each row: the first letter of its level, or
 * `-` without a concern.
 */
export function surveyAt(now) {
  const survey = { bad: 0, warn: 0, waitedFor: 0, oldest: undefined, levels: '' }
  for (const one of seen.rows.values()) {
    const { concerns } = listedAt(one, now)
    const level = concerns[0]?.level
    if (level !== undefined) survey[level]++
    survey.levels += level?.[0] ?? '-'
    if (!isWaitedFor(one)) continue
    survey.waitedFor++
    const waitedMs = now - (one.waitingSince ?? now)
    if (one.waitingSince === null || waitedMs <= survey.oldest?.waitedMs) continue
    const about = concerns.find((concern) => concern.about === 'oldest')
    survey.oldest = { key: one.key, waitedMs, level: about?.level }
  }
  return survey
}
