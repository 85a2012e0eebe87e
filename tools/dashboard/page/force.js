// Takes a lock by force, after a confirmation. Only the holder that the page showed can lose the
// lock.
import { byId, printable, say, setText } from './dom.js'
import { processOf, whoOf } from './format.js'
import { wordsOf } from './kinds.js'
import { fetchJson } from './past.js'

let access = { access: 'read', release: false }
let asked
let onDone = () => {}

export const mayForce = () => access.release && access.access === 'admin'

/**
 * @param {() => void} listener called after each request for a release that the dashboard answered
 */
export async function newForce(listener) {
  onDone = listener
  const name = byId('force-name')
  name.addEventListener('input', () => {
    byId('force-go').disabled = !isTyped(name.value)
  })
  byId('force-cancel').addEventListener('click', () => byId('force').close())
  byId('force').addEventListener('close', () => {
    asked = undefined
  })
  byId('force-form').addEventListener('submit', (event) => {
    event.preventDefault()
    if (asked !== undefined && isTyped(name.value)) void release(asked)
  })
  access = await fetchJson('api/access', {}).catch(() => access)
}

// The page shows invisible characters of a name as escapes, so the user may type these escapes.
const isTyped = (text) => asked !== undefined && [asked.key, printable(asked.key)].includes(text)

export function askForce({ key, kind, token }, holder) {
  asked = { key, token, owner: holder.owner }
  const { what } = wordsOf(kind)
  const { host, label, owner } = holder
  const from = host === null ? (label ?? owner) : `${whoOf(holder)} (${processOf(holder)})`
  setText(byId('force-what'), `This takes the ${what} from ${from} only.`)
  setText(byId('force-key'), key)
  setText(byId('force-error'), '')
  byId('force-name').value = ''
  byId('force-go').disabled = true
  byId('force').showModal()
  byId('force-name').focus()
}

async function release({ key, owner, token }) {
  byId('force-go').disabled = true
  try {
    const { outcome, fence } = await fetchJson(
      'api/release',
      { key, owner, token: token ?? '' },
      { method: 'POST', headers: { 'holdfast-dashboard': 'release' } },
    )
    const texts = {
      released: `Released. Your store must refuse tokens up to ${fence ?? 'the last one'}.`,
      free: 'It was already free.',
      changed: 'Another client holds the lock by now, and keeps it.',
    }
    byId('force').close()
    say(texts[outcome])
    setText(byId('outcome'), texts[outcome])
    byId('outcome').hidden = false
    onDone()
  } catch (error) {
    setText(byId('force-error'), error.message)
    byId('force-go').disabled = false
  }
}
