// Writes the module with the files of the dashboard's page, so every build and bundle has these files:
//
//   node scripts/page.mjs [--check]
//
// With --check it writes nothing, and fails if the module is out of date.
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

const room = fileURLToPath(new URL('../tools/dashboard', import.meta.url))
const file = `${room}/handler/page.generated.ts`

const entries = readdirSync(`${room}/page`)
  .sort()
  .map((name) => {
    const text = readFileSync(`${room}/page/${name}`, 'utf8')
    // Single quotes are escaped, so that no tool takes a text of the page for an import of the module.
    return `  ${JSON.stringify(name)}: ${JSON.stringify(text).replaceAll("'", '\\u0027')},\n`
  })
const wanted = `// Generated from ../page/ by \`npm run page\`. Do not edit.
export const files: Readonly<Record<string, string>> = {
${entries.join('')}}
`

if (!process.argv.includes('--check')) writeFileSync(file, wanted)
else if (readFileSync(file, 'utf8') !== wanted) {
  console.error('tools/dashboard/handler/page.generated.ts is out of date: run npm run page.')
  process.exitCode = 1
}
