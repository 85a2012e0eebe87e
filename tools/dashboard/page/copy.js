// Shows a command that the user can paste. The command wraps only between words. A button copies
// the command, even on a page without TLS.
import { element, say } from './dom.js'

export function commandOf(command, name) {
  const words = command
    .split(' ')
    .flatMap((word, i) => [i === 0 ? '' : ' ', element('span', { class: 'word' }, word)])
  const code = element('code', {}, ...words)
  const button = element('button', { type: 'button', class: 'copy' }, 'Copy')
  button.addEventListener('click', () => void copy(command, code, button))
  const head = element('div', {}, element('span', {}, name), button)
  return element('div', { class: 'command' }, head, element('pre', { tabindex: 0 }, code))
}

async function copy(text, code, button) {
  const isCopied = (await byClipboard(text)) || bySelection(code, text)
  button.textContent = isCopied ? 'Copied' : 'Press Ctrl+C'
  say(isCopied ? 'copied' : 'the command is selected: copy it with the keyboard')
  setTimeout(() => {
    button.textContent = 'Copy'
  }, 2_000)
}

async function byClipboard(text) {
  try {
    await navigator.clipboard.writeText(text)
    return true
  } catch {
    return false
  }
}

/**
 * Selects and copies the text, because a page without TLS has no clipboard API. The text stays
 * selected, so that the user can also copy it with the keyboard.
 */
function bySelection(code, text) {
  getSelection().selectAllChildren(code)
  const asItIs = (event) => {
    event.clipboardData.setData('text/plain', text)
    event.preventDefault()
  }
  document.addEventListener('copy', asItIs, { once: true })
  const isCopied = document.execCommand('copy')
  document.removeEventListener('copy', asItIs)
  return isCopied
}
