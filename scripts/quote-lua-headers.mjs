// Quotes the headers of the scripts in lua/ in docs/reference/scripts.md, word for word.
import { readFileSync, writeFileSync } from 'node:fs'

const page = new URL('../docs/reference/scripts.md', import.meta.url)
const quoted = readFileSync(page, 'utf8').replace(
  /(## `([\w-]+\/[\w-]+)`\n\n```text\n)[\s\S]*?\n```/g,
  (_, heading, name) => {
    const source = readFileSync(new URL(`../lua/${name}.lua`, import.meta.url), 'utf8')
    const header = /^--\[\[\n([\s\S]*?)\n\]\]/.exec(source)[1]
    return `${heading}${header.replace(/^ {2}/gm, '')}\n\`\`\``
  },
)
writeFileSync(page, quoted)
