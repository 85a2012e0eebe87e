import { sentencesOfPage } from './sentences.mjs'

/** A string, which may contain what looks like a comment; a block comment; or lines of comments. */
const TYPESCRIPT =
  /'(?:[^'\\\n]|\\.)*'|"(?:[^"\\\n]|\\.)*"|`(?:[^`\\]|\\.)*`|\/\*(?<block>[\s\S]*?)\*\/|(?<lines>(?<=^|\s)\/\/.*(?:\n[ \t]*\/\/.*)*)/g
const LUA =
  /'(?:[^'\\\n]|\\.)*'|"(?:[^"\\\n]|\\.)*"|--\[\[(?<block>[\s\S]*?)\]\]|(?<lines>--.*(?:\n[ \t]*--.*)*)/g

/**
 * The sentences in the comments of a source file.
 *
 * @param {string} source
 * @param {'lua' | 'ts'} language
 * @returns {{ line: number, text: string }[]}
 */
export function sentencesOfComments(source, language) {
  const found = []
  for (const { index, groups } of source.matchAll(language === 'lua' ? LUA : TYPESCRIPT)) {
    const text = groups.block ?? groups.lines
    if (text === undefined || /^\s*(?:biome-ignore|@ts-|\/ <reference|include:)/.test(plain(text)))
      continue
    const line = source.slice(0, index).split('\n').length - 1
    const page = groups.block === undefined ? plain(text) : pageOf(text, language)
    found.push(...sentencesOfPage(page).map((one) => ({ ...one, line: one.line + line })))
  }
  return found
}

function plain(text) {
  return text.replace(/^[ \t]*(?:\/\/|--) ?/gm, '')
}

/** A block comment as a Markdown page with the same number of lines: without stars and names of tags. */
export function pageOf(comment, language = 'ts') {
  if (language === 'lua') return headerOf(comment)
  return comment
    .replace(/^[ \t]*\* ?/gm, '')
    .replace(/\{@link ([^}]+)\}/g, '`$1`')
    .replace(/^@param\s+\S+[ \t]*/gm, '- ')
    .replace(/^@(?:returns|throws|default|see)[ \t]*/gm, '- ')
    .replace(/^@\w+[ \t]*/gm, '')
}

/** The header of a script: the declarations of its keys, arguments and answers are no prose. */
function headerOf(comment) {
  return comment
    .replace(/^ *\{[^{}]*\}/gm, (declaration) => `${declaration.replace(/[^\n]/g, '')}- `)
    .split('\n')
    .map((line) => line.replace(/^\s*(?:KEYS|ARGV)\[.\S*\]\s+\S+/, '- '))
    .map((line) => line.replace(/^ +-?\w+(?:\[\])?(?: >= -?\d+)? {2,}/, '- ').replace(/^ +/, ''))
    .join('\n')
}
