import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, readdirSync } from 'node:fs'
import { connect, createServer, type AddressInfo, type Socket } from 'node:net'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { livingProcesses } from '../fixtures/living-processes.ts'
import { describeNetworks, newRoot } from '../fixtures/sandboxes.ts'

const program = join(import.meta.dirname, '../fixtures/programs/hold-connection.ts')

describeNetworks('a killed host', (isolation, backend) => {
  test('leaves neither process nor connection, nor a socket that answers', async () => {
    const [rootDir, temporary] = [newRoot(), join(newRoot(), 't')]
    mkdirSync(temporary)
    const server = createServer()
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    onTestFinished(() => void server.close())
    const { port } = server.address() as AddressInfo
    const mark = `held-${process.pid}-${backend}`
    const start = (markOrNone: string) =>
      spawn(
        process.execPath,
        [
          '--conditions=@smithers/source',
          program,
          rootDir,
          JSON.stringify(isolation),
          String(port),
          markOrNone,
        ],
        { stdio: 'inherit', env: { ...process.env, TMPDIR: temporary } },
      )
    const sockets = (): string[] =>
      readdirSync(temporary, { recursive: true, encoding: 'utf8' })
        .filter((name) => name.endsWith('.sock'))
        .map((name) => join(temporary, name))
    const host = start(mark)
    const [held] = (await once(server, 'connection')) as [Socket]
    held.on('error', () => {}).resume()
    // The control: all three are there.
    expect(livingProcesses(mark)).not.toEqual([])
    const [socketPath = ''] = sockets()
    const probe = connect(socketPath).on('error', () => {})
    await once(probe, 'connect')

    // Unlike `once`, it does not mind a reset.
    const closed = new Promise((resolve) => held.once('close', resolve))
    const ended = [closed, once(host, 'close')]
    host.kill('SIGKILL')
    await Promise.all(ended)
    await expect.poll(() => livingProcesses(mark)).toEqual([])
    await expect(once(connect(socketPath), 'connect')).rejects.toMatchObject({
      code: 'ECONNREFUSED',
    })
    // The file of it is removed by the next process.
    await once(start(''), 'close')
    await expect.poll(sockets).toEqual([])
  })
})
