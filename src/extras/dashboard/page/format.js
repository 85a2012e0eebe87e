const number = new Intl.NumberFormat('en')

export const count = (value) => number.format(value)

export const plural = (value, word) => `${count(value)} ${word}${value === 1 ? '' : 's'}`

/** In two units at most. */
export function duration(ms) {
  if (ms === null || ms === undefined) return '–'
  if (ms < 1_000) return `${Math.max(0, Math.round(ms))} ms`
  return ms < 10_000 ? `${(ms / 1_000).toFixed(1)} s` : seconds(ms)
}

/** What counts on the screen is not to flicker. */
export function seconds(ms) {
  const whole = Math.max(0, Math.round(ms / 1_000))
  if (whole < 60) return `${whole} s`
  const minutes = Math.floor(whole / 60)
  if (minutes < 60) return `${minutes} min ${whole % 60} s`
  const hours = Math.floor(minutes / 60)
  if (hours < 48) return `${hours} h ${minutes % 60} min`
  return `${Math.floor(hours / 24)} d ${hours % 24} h`
}

export const time = (at) => new Date(at).toLocaleTimeString('en-GB')

export const whoOf = ({ label, owner }) => label ?? owner
