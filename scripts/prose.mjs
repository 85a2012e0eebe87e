#!/usr/bin/env node
/**
 * Finds sentences that a reader has to read twice: in the README, the pages, the texts of errors and the docstrings
 * of the public API.
 *
 *   npm run prose                    a line for each file: words, hard words, long sentences
 *   npm run prose -- docs/how-to     each finding in some files or folders, with what to write instead
 *   npm run prose -- --check         fails if there are findings
 *   npm run prose -- --comments lua  also the comments of scripts and source files
 *   npm run prose -- test            the titles of tests
 */
import { readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { sentencesOfComments } from './lib/prose/comments.mjs'
import { sentencesOfDocstrings } from './lib/prose/docstrings.mjs'
import { sentencesOfMessages } from './lib/prose/messages.mjs'
import { MOST_WORDS, PATTERNS } from './lib/prose/patterns.mjs'
import { sentencesOfPage } from './lib/prose/sentences.mjs'
import { titlesOf } from './lib/prose/titles.mjs'

const ROOT = fileURLToPath(new URL('..', import.meta.url))
const PAGES = ['README.md', 'CHANGELOG.md', 'CONTRIBUTING.md', 'SECURITY.md', 'docs']
const MESSAGES = ['src', 'tools']

const { values, positionals } = parseArgs({
  options: {
    check: { type: 'boolean', default: false },
    comments: { type: 'boolean', default: false },
  },
  allowPositionals: true,
})

let docstrings
const files = (positionals.length > 0 ? positionals : [...PAGES, ...MESSAGES]).flatMap(filesIn)
const reports = files.map(reportOf)

if (positionals.length > 0 || values.check) for (const one of reports) printFindings(one)
else for (const one of reports) console.log(lineOf(one))
printTotal(reports)
if (values.check && reports.some(({ findings }) => findings.length > 0)) process.exitCode = 1

function filesIn(path) {
  const whole = join(ROOT, path)
  if (!statSync(whole).isDirectory()) return [path]
  return (
    readdirSync(whole, { recursive: true, encoding: 'utf8' })
      .filter(
        (file) =>
          (/\.(md|ts|js)$/.test(file) || (values.comments && file.endsWith('.lua'))) &&
          !/\.(generated|d)\.ts$/.test(file),
      )
      .sort()
      .map((file) => join(path, file))
      // Pages in test/ are left out, because the page of ported tests quotes titles in long rows.
      .filter((file) => !isTest(file) || file.endsWith('.ts'))
  )
}

function isTest(file) {
  return /^test[\\/]/.test(file)
}

function reportOf(file) {
  const text = readFileSync(join(ROOT, file), 'utf8')
  const sentences = sentencesIn(file, text)
  const words = sentences.reduce((sum, one) => sum + wordsOf(one.text), 0)
  return { file, words, findings: sentences.flatMap(findingsOf) }
}

function sentencesIn(file, text) {
  if (file.endsWith('.md')) return sentencesOfPage(text)
  if (file.endsWith('.lua')) return sentencesOfComments(text, 'lua')
  if (isTest(file)) return titlesOf(text)
  const messages = sentencesOfMessages(text)
  // The comments include the docstrings.
  if (values.comments) return [...messages, ...sentencesOfComments(text, 'ts')]
  docstrings ??= sentencesOfDocstrings()
  return [...messages, ...(docstrings.get(file) ?? [])]
}

function wordsOf(text) {
  return text.split(/\s+/).filter((word) => /\w/.test(word)).length
}

function findingsOf({ line, text }) {
  const findings = PATTERNS.flatMap(({ pattern, instead }) => {
    const [found] = pattern.exec(text) ?? []
    return found === undefined ? [] : [{ kind: 'hard', line, text, what: `"${found}": ${instead}` }]
  })
  const words = wordsOf(text)
  if (words > MOST_WORDS) findings.push({ kind: 'long', line, text, what: `${words} words` })
  return findings
}

function printFindings({ file, findings }) {
  for (const { line, text, what } of findings) console.log(`${file}:${line}: ${what}\n    ${text}`)
}

function count(findings, kind) {
  return findings.filter((one) => one.kind === kind).length
}

function lineOf({ file, words, findings }) {
  const numbers = [words, count(findings, 'hard'), count(findings, 'long')]
  return `${numbers.map((one) => `${one}`.padStart(6)).join('')}  ${file}`
}

function printTotal(all) {
  const words = all.reduce((sum, one) => sum + one.words, 0)
  const findings = all.flatMap((one) => one.findings)
  const perThousand = ((count(findings, 'hard') / words) * 1_000).toFixed(1)
  console.log(
    `${words} words, ${count(findings, 'hard')} hard (${perThousand} of 1,000 words), ${count(findings, 'long')} long sentences`,
  )
}
