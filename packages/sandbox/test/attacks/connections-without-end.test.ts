import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { describeNetworks, newSandbox } from '../fixtures/sandboxes.ts'

/** Opens connections to the command's proxy, 200 at a time, says nothing on them, and then asks for something. */
const program = (url: string): string => `
  const { connect } = require('node:net')
  const { port } = new URL(process.env.HTTP_PROXY)
  const open = () => new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1', () => resolve(socket))
    socket.on('error', () => resolve(socket))
  })
  const main = async () => {
    let sockets = 0
    for (let round = 0; round < 50; round += 1) {
      const all = await Promise.all(Array.from({ length: 200 }, open))
      sockets += all.length
      for (const socket of all) socket.destroy()
    }
    // Until the proxy has noticed that they are gone.
    for (;;) {
      const answer = await fetch('${url}').catch(() => undefined)
      if (answer?.ok) return console.log(sockets, await answer.text())
      await new Promise((resolve) => setTimeout(resolve, 100))
    }
  }
  main()`

describeNetworks('10 000 connections of a command', (isolation) => {
  let server: Server
  let url = ''
  let requests = 0
  beforeAll(async () => {
    server = createServer((_, response) => {
      requests += 1
      response.end('hello')
    })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  })
  afterAll(() => server.close())

  test('leave its proxy able to serve it, and others', async () => {
    requests = 0
    const { port } = new URL(url)
    const sandbox = await newSandbox({
      isolation,
      commands: 'off',
      network: { allow: [`127.0.0.1:${port}`] },
    })
    // The proxy variables leave the command's own loopback device out, where the server is not.
    const env = { NO_PROXY: '', no_proxy: '' }
    const attack = sandbox.run(process.execPath, ['-e', program(url)], { env, timeoutMs: 200_000 })
    const script = `fetch('${url}').then((answer) => answer.text()).then(console.log)`
    const beside = await sandbox.run(process.execPath, ['-e', script], { env })
    expect(beside).toMatchObject({ exitCode: 0, stdout: 'hello\n' })
    expect(await attack).toMatchObject({ exitCode: 0, stdout: '10000 hello\n' })
    expect(requests).toBe(2)
  })
})
