import 'reflect-metadata'
import { NestFactory } from '@nestjs/core'
import { AppModule, Orders } from './app.ts'

const app = await NestFactory.createApplicationContext(AppModule, { logger: ['error', 'warn'] })
app.enableShutdownHooks([], { useProcessExit: true })
console.log('ready')
await app.get(Orders).ship('1001').then(console.log, console.error)
