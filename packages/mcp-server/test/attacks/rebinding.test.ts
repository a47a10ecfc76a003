import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { execa } from 'execa'
import { expect, it, onTestFinished } from 'vitest'
import { startHttp } from '../fixtures/http-server.ts'
import { sendRead } from '../fixtures/send-read.ts'
import { serverProgram } from '../fixtures/server-program.ts'
import { createWorkspace } from '../fixtures/workspace.ts'

const token = 'a-token-of-the-operator'

/** What a page sends whose name its owner has bound to the address of the server. */
const rebound = [
  { Host: 'attacker.example' },
  { Host: 'attacker.example:8765' },
  { Host: '0.0.0.0' },
  { Host: 'tools.example.attacker.example' },
  { Host: 'tools.example', Origin: 'http://attacker.example' },
  { Host: 'tools.example', Origin: 'null' },
] as const

it('a page that has bound its name to the address of the server reaches no tool', async () => {
  const { root } = createWorkspace({ 'a.txt': 'alpha\n' })
  const options = { host: '0.0.0.0', token, allowedHosts: ['Tools.Example'] }
  const { http, rows } = await startHttp({ rootDir: root }, options)
  const url = http.url.replace('tools.example', '127.0.0.1')
  for (const headers of rebound) expect(await sendRead(url, token, headers)).toBe(403)
  expect(await sendRead(url, '', { Host: 'tools.example', Authorization: '' })).toBe(401)
  expect(await rows()).toEqual([])

  // Control: the same request by the name of the server, and by a loopback name.
  for (const Host of ['tools.example', 'TOOLS.EXAMPLE:8765', 'localhost']) {
    expect(await sendRead(url, token, { Host })).toBe(200)
  }
  expect(await rows()).toHaveLength(3)
})

it('the program serves other machines by the names that --allow-host gives', async () => {
  const { root, folder } = createWorkspace({ 'a.txt': 'alpha\n' })
  const tokenFile = join(folder, 'token')
  writeFileSync(tokenFile, `${token}\n`)
  const http = ['--http', '0', '--host', '0.0.0.0', '--token-file', tokenFile]
  const names = ['--allow-host', 'tools.example', '--allow-host', 'tools.internal']
  const { command, args, env } = serverProgram('--root', root, ...http, ...names)
  const program = execa(command, args, { reject: false, env })
  onTestFinished(async () => {
    program.kill('SIGTERM')
    await program
  })
  let printed = ''
  program.stdout.on('data', (chunk: Buffer) => (printed += chunk.toString()))
  await expect.poll(() => printed).toMatch(/^http:.*\n/)
  expect(printed).not.toContain(token)
  const url = printed.trim().replace('tools.example', '127.0.0.1')
  for (const headers of rebound) expect(await sendRead(url, token, headers)).toBe(403)
  for (const Host of ['tools.example', 'tools.internal']) {
    expect(await sendRead(url, token, { Host })).toBe(200)
  }
})
