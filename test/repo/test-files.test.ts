import { readdirSync } from 'node:fs'
import { basename, resolve } from 'node:path'

const paths = readdirSync(resolve(__dirname, '..'), { recursive: true, encoding: 'utf8' })

test('each test file and each support file has a name of its own', () => {
  const names = paths
    .map((path) => basename(path))
    .filter((name) => name.endsWith('.ts') && !name.endsWith('.interop.ts'))
  expect(names.length).toBeGreaterThan(300)
  expect(names.filter((name, i) => names.indexOf(name) !== i)).toEqual([])
})
