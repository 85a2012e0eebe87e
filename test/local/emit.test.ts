import { EventEmitter } from 'eventemitter3'
import type { LeaseLostError } from '../../src/index.ts'
import { emitBy } from '../../src/kit/call-listeners.ts'
import { createMemoryServer } from '../../src/testing.ts'
import { eventually } from '../support/eventually.ts'

/** Errors that listeners throw. They would be uncaught exceptions, and are recorded here instead. */
let uncaught: unknown[] = []
beforeEach(() => {
  uncaught = []
  const queue = globalThis.queueMicrotask
  jest.spyOn(globalThis, 'queueMicrotask').mockImplementation((task) =>
    queue(() => {
      try {
        task()
      } catch (error) {
        uncaught.push(error)
      }
    }),
  )
})
afterEach(() => jest.restoreAllMocks())

const throwing = (message: string) => () => {
  throw new Error(message)
}

test('a listener of `lost` receives the loss although an earlier listener throws', async () => {
  await using client = createMemoryServer().newClient()
  const lost: LeaseLostError[] = []
  client.on('lost', throwing('first'))
  client.on('lost', ({ error }) => lost.push(error))
  client.once('lost', throwing('third'))
  client.on('lost', ({ error }) => lost.push(error))
  const lease = await client.getLock('it').lock()
  await client.getLock('it').forceUnlock()
  expect(lost).toEqual([lease.signal.reason, lease.signal.reason])
  await eventually(() => uncaught.length === 2)
  expect(uncaught.map(String)).toEqual(['Error: first', 'Error: third'])
  await lease.release()
})

describe('listeners of an event', () => {
  test('are called in order, with their context and all arguments, and their errors are reported in order', async () => {
    const emitter = new EventEmitter()
    const heard: unknown[] = []
    const context = { name: 'context' }
    const note = function (this: unknown, ...args: unknown[]) {
      heard.push([this, ...args])
    }
    emitter.on('it', throwing('one'))
    emitter.on('it', note, context)
    emitter.on('it', throwing('two'))
    emitter.on('it', note)
    emitBy(emitter)('it', 1, 2)
    expect(heard).toEqual([
      [context, 1, 2],
      [emitter, 1, 2],
    ])
    expect(uncaught).toEqual([])
    await eventually(() => uncaught.length === 2)
    expect(uncaught.map(String)).toEqual(['Error: one', 'Error: two'])
  })

  test('run once if they are added with `once()`, even when they throw or emit the event themselves', async () => {
    const emitter = new EventEmitter()
    const emit = emitBy(emitter)
    let [once, always] = [0, 0]
    emitter.once('it', () => {
      once += 1
      emit('it')
      throw new Error('once')
    })
    emitter.once('it', () => {
      once += 1
    })
    emitter.on('it', () => {
      always += 1
    })
    emit('it')
    emit('it')
    // The nested event and the outer event both call the second listener, as in eventemitter3.
    expect([once, always]).toEqual([3, 3])
    expect(emitter.listenerCount('it')).toBe(1)
    await eventually(() => uncaught.length === 1)
  })

  test('added or removed during an event count from the next event on', () => {
    const emitter = new EventEmitter()
    const heard: string[] = []
    const second = () => heard.push('second')
    emitter.on('it', () => {
      heard.push('first')
      emitter.off('it', second)
      emitter.once('it', () => heard.push('added'))
    })
    emitter.on('it', second)
    emitter.on('it', () => heard.push('third'))
    emitBy(emitter)('it')
    expect(heard.splice(0)).toEqual(['first', 'second', 'third'])
    emitBy(emitter)('it')
    expect(heard).toEqual(['first', 'third', 'added'])
  })
})
