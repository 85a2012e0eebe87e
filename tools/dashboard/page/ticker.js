// The running times on the page. One timer updates all times.
import { setText } from './dom.js'
import { seconds } from './format.js'
import { serverNow } from './stream.js'

const listeners = new Set()

/** @param {(now: number) => void} listener called each second while the page is visible */
export function onTick(listener) {
  listeners.add(listener)
}

export function tick() {
  const now = serverNow()
  for (const node of document.querySelectorAll('[data-since]')) {
    setText(node, seconds(now - Number(node.dataset.since)))
  }
  for (const node of document.querySelectorAll('[data-until]')) {
    const left = Number(node.dataset.until) - now
    setText(node, left <= 0 ? 'ends now' : seconds(left))
  }
}

export function startTicker() {
  setInterval(() => {
    if (document.hidden) return
    tick()
    const now = serverNow()
    for (const listener of listeners) listener(now)
  }, 1_000)
}
