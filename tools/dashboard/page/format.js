const number = new Intl.NumberFormat('en')

export const count = (value) => number.format(value)

export const plural = (value, word) => `${count(value)} ${word}${value === 1 ? '' : 's'}`

/**
 * Formats a duration in milliseconds with at most two units. Non-breaking spaces keep a number with
 * its unit.
 */
export function duration(ms) {
  if (ms === null || ms === undefined) return '–'
  if (ms < 1_000) return `${Math.max(0, Math.round(ms))}\u00a0ms`
  return ms < 10_000 ? `${(ms / 1_000).toFixed(1)}\u00a0s` : seconds(ms)
}

/**
 * Formats a duration in milliseconds as whole seconds, because the fractions of a running time
 * would flicker.
 */
export function seconds(ms) {
  const whole = Math.max(0, Math.round(ms / 1_000))
  if (whole < 60) return `${whole}\u00a0s`
  const minutes = Math.floor(whole / 60)
  if (minutes < 60) return `${minutes}\u00a0min\u00a0${whole % 60}\u00a0s`
  const hours = Math.floor(minutes / 60)
  if (hours < 48) return `${hours}\u00a0h\u00a0${minutes % 60}\u00a0min`
  return `${Math.floor(hours / 24)}\u00a0d\u00a0${hours % 24}\u00a0h`
}

export const time = (at) => new Date(at).toLocaleTimeString('en-GB')

export const whoOf = ({ label, owner }) => label ?? owner

/**
 * Describes the process in words. Leaves out the host if the label already contains the process.
 */
export function processOf({ label, host, pid, isRedisson }) {
  if (host === null) return isRedisson ? 'a client of Redisson' : 'process not known'
  return label === `${host}:${pid}` ? `process ${pid}` : `process ${pid} on ${host}`
}
