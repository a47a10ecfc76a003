import { readFileSync } from 'node:fs'
import { execa } from 'execa'
import { createSandbox } from '@smithers/sandbox'
import { expect, it, onTestFinished } from 'vitest'
import { connectNew, textOf } from '../fixtures/mcp-clients.ts'
import { serverProgram } from '../fixtures/server-program.ts'
import { createWorkspace } from '../fixtures/workspace.ts'

const token = 'a-token-on-the-command-line'
const key = 'a-key-of-the-environment'

it('what the operator gives the server reaches no command, and the token no list of processes', async () => {
  const { root } = createWorkspace()
  const { command, args, env } = serverProgram('--root', root, '--http', '0', '--token', token)
  const program = execa(command, args, { reject: false, env: { ...env, OPENAI_API_KEY: key } })
  onTestFinished(async () => {
    program.kill('SIGTERM')
    await program
  })
  let printed = ''
  program.stdout.on('data', (chunk: Buffer) => (printed += chunk.toString()))
  await expect.poll(() => printed).toMatch(/^http:.*\n/)
  // Control: the server has both.
  expect(readFileSync(`/proc/${program.pid}/environ`, 'utf8')).toContain(key)
  const client = await connectNew({ url: printed.trim(), token })
  onTestFinished(() => client.close())
  expect(readFileSync(`/proc/${program.pid}/cmdline`, 'utf8')).not.toContain(token)

  const run = async (script: string): Promise<string> =>
    textOf(await client.call('bash', { command: script }))
  expect(await run('env; echo end')).toMatch(/end\n$/)
  expect(await run('env; export; cat /proc/self/environ')).not.toContain(key)
  await using sandbox = await createSandbox({ rootDir: root, network: 'none', warn() {} })
  if (sandbox.report.enforced.files !== 'enforced') return
  const environments = `cat /proc/[0-9]*/environ 2>/dev/null | tr '\\0' '\\n'`
  expect(await run(`${environments} | grep -ac OPENAI_API_KEY; true`)).toBe('0\n')
})
