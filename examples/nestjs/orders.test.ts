import 'reflect-metadata'
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Test } from '@nestjs/testing'
import { createMemoryServer } from 'holdfast/testing'
import { AppModule, HOLDFAST, Orders } from './app.ts'

test('the service waits for an order that another client ships', async () => {
  const server = createMemoryServer()
  const elsewhere = await server.newClient().getLock('order:1001').lock()
  const app = await Test.createTestingModule({ imports: [AppModule] })
    .overrideProvider(HOLDFAST)
    .useValue(server.newClient())
    .compile()
  let shipped = ''
  const shipping = app
    .get(Orders)
    .ship('1001')
    .then((said) => {
      shipped = said
    })
  await app.get(Orders).ship('1002')
  assert.equal(shipped, '')
  await elsewhere.release()
  await shipping
  assert.equal(shipped, 'shipped 1001')
  await app.close()
})
