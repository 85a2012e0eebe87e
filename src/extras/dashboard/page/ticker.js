// What counts on the screen: one timer for all, and only what is in the page.
import { setText } from './dom.js'
import { seconds } from './format.js'
import { serverNow } from './stream.js'

const SOON_MS = 5_000

export function tick() {
  const now = serverNow()
  for (const node of document.querySelectorAll('[data-since]')) {
    setText(node, seconds(now - Number(node.dataset.since)))
  }
  for (const node of document.querySelectorAll('[data-until]')) {
    const left = Number(node.dataset.until) - now
    setText(node, left <= 0 ? 'ends now' : seconds(left))
    node.classList.toggle('soon', left < SOON_MS)
  }
}

export function startTicker() {
  setInterval(() => {
    if (!document.hidden) tick()
  }, 1_000)
}
