import { Holdfast, InvalidArgumentError } from '../../src/index.ts'
import { atEnd } from '../support/lifetime.ts'

const MASTERS = ['redis://127.0.0.1:1', 'redis://127.0.0.1:2', 'redis://127.0.0.1:3']

test.each([
  ['masters', { masters: MASTERS, keepMs: 5 }],
  ['durability', { redis: 'redis://127.0.0.1:1', durability: { replicas: 1 }, keepMs: 5 }],
])('a client with `%s` keeps no locks', (option, options) => {
  expect(() => new Holdfast(options)).toThrow(InvalidArgumentError)
  expect(() => new Holdfast(options)).toThrow(`\`${option}\``)
})

test.each([
  ['masters', { masters: MASTERS }],
  ['durability', { redis: 'redis://127.0.0.1:1', durability: { replicas: 1 } }],
])('a lock of a client with `%s` cannot be kept', (option, options) => {
  const client = new Holdfast(options)
  atEnd(() => client.close(), { beforeCheck: true })
  expect(() => client.getLock('it', { keepMs: 5 })).toThrow(`\`${option}\``)
  expect(client.getLock('it', { keepMs: 0 }).name).toBe('it')
})
