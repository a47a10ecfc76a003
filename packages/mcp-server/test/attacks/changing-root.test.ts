import { rmSync, symlinkSync, unlinkSync } from 'node:fs'
import { join } from 'node:path'
import { createSqliteLog } from '@smithers/log-sqlite'
import { expect, it } from 'vitest'
import { startHttp } from '../fixtures/http-server.ts'
import { connectNew, textOf } from '../fixtures/mcp-clients.ts'
import { createWorkspace, secret } from '../fixtures/workspace.ts'

const write = { path: 'new.txt', content: 'x' }

it('a root that is removed fails calls, and one that takes its place by a link opens nothing', async () => {
  const { folder, root } = createWorkspace({ 'a.txt': 'alpha\n' })
  const { address, rows } = await startHttp({ rootDir: root })
  const client = await connectNew(address)
  expect(textOf(await client.call('read', { path: 'a.txt' }))).toBe('alpha\n')
  rmSync(root, { recursive: true })
  for (const [name, args] of [
    ['read', { path: 'a.txt' }],
    ['write', write],
    ['bash', { command: 'echo x > new.txt' }],
  ] as const) {
    expect(await client.call(name, args)).toMatchObject({ isError: true })
  }
  symlinkSync(folder, root)
  const result = await client.call('read', { path: 'outside.txt' })
  expect(textOf(result)).not.toContain(secret)
  expect(await rows()).toHaveLength(5)
  await client.close()
})

it('a link as root is the directory that it led to at the start', async () => {
  const { folder, root } = createWorkspace({ 'a.txt': 'alpha\n' })
  const link = join(folder, 'link')
  symlinkSync(root, link)
  const { server, address } = await startHttp({ rootDir: link })
  expect(server.rootDir).toBe(root)
  unlinkSync(link)
  symlinkSync(folder, link)
  const client = await connectNew(address)
  expect((await client.call('read', { path: 'outside.txt' })).isError).toBe(true)
  expect(textOf(await client.call('read', { path: 'a.txt' }))).toBe('alpha\n')
  await client.close()
})

it('a server that starts on a log leaves the running calls of another alone', async () => {
  const { root, logPath } = createWorkspace()
  const log = createSqliteLog({ path: logPath })
  const first = await startHttp({ rootDir: root, log })
  const client = await connectNew(first.address)
  const running = client.call('bash', {
    command: 'until [ -e stop.txt ]; do sleep 0.05; done; echo done',
  })
  await expect.poll(async () => (await first.rows())[0]?.status).toBe('started')
  const log2 = createSqliteLog({ path: logPath })
  const second = await startHttp({ rootDir: root, log: log2 })
  const other = await connectNew(second.address)
  expect((await other.call('write', { path: 'stop.txt', content: '' })).isError).not.toBe(true)
  expect(textOf(await running)).toBe('done\n')
  const rows = await first.rows()
  expect(rows.map(({ toolName, status }) => `${toolName} ${status}`)).toEqual([
    'bash success',
    'write success',
  ])
  expect(new Set(rows.map(({ runId }) => runId)).size).toBe(2)
  // A server shows its own run alone.
  expect(await other.readResource('smithers-log://runs/current')).toHaveLength(1)
  await client.close()
  await other.close()
  await log.close()
  await log2.close()
})
