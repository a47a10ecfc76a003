import { existsSync, mkdirSync, watch } from 'node:fs'
import { once } from 'node:events'
import { join } from 'node:path'
import { createSqliteLog } from '@smithers/log-sqlite'
import { expect, onTestFinished, test } from 'vitest'
import { startModelServer } from './fixtures/model-server.ts'
import type { ModelServer } from './fixtures/model-server.ts'
import { runSmithers, startSmithers } from './fixtures/smithers-process.ts'
import type { SmithersProcess } from './fixtures/smithers-process.ts'
import { temporaryFolder } from '../../../packages/cli/test/fixtures/temporary-folder.ts'

interface BusyAgent extends SmithersProcess {
  readonly args: readonly string[]
  readonly log: string
  readonly folder: string
  readonly server: ModelServer
}

/** An agent in the middle of a command: the command has written a file and now waits. */
async function busyAgent(): Promise<BusyAgent> {
  const folder = temporaryFolder()
  const root = join(folder, 'project')
  mkdirSync(root)
  const busy = { name: 'bash', input: { cmd: 'sh', args: ['-c', 'echo effect > begun; sleep 60'] } }
  const server = await startModelServer(({ number }) =>
    number === 1 ? { call: busy } : { text: 'I see what happened.' },
  )
  onTestFinished(() => server.close())
  const log = join(folder, 'calls.db')
  const model = ['--model', 'openai-compatible/m', '--base-url', server.url]
  const args = ['run', 'Wait', '--root', root, '--log', log, '--run', 'run-1', ...model]
  const running = startSmithers(args, { env: { HOME: folder } })
  onTestFinished(() => running.kill('SIGKILL'))
  const ended = running.outcome.then(({ stderr }) => {
    throw new Error(`The agent ended before its command began: ${stderr}`)
  })
  await Promise.race([fileAppears(root, 'begun'), ended])
  // Its end is what some tests are about.
  ended.catch(() => {})
  return { ...running, args, log, folder, server }
}

async function fileAppears(folder: string, name: string): Promise<void> {
  const watcher = watch(folder)
  try {
    while (!existsSync(join(folder, name))) await once(watcher, 'change')
  } finally {
    watcher.close()
  }
}

test('an agent that is killed in the middle of a bash call leaves the started row of that call', async () => {
  const { kill, outcome, log: path, folder } = await busyAgent()
  kill('SIGKILL')
  expect((await outcome).signal).toBe('SIGKILL')

  const log = createSqliteLog({ path })
  const rows = await log.list({ runId: 'run-1' })
  await log.close()
  expect(rows).toHaveLength(1)
  expect(rows[0]).toMatchObject({
    seq: 1,
    toolName: 'bash',
    status: 'started',
    finishedAtMs: null,
    outputJson: null,
    errorJson: null,
  })
  expect(rows[0]?.inputJson).toContain('echo effect')

  const listed = await runSmithers(['calls', '--log', path], { env: { HOME: folder } })
  expect(listed.stdout).toMatch(/^1 +bash +sh -c .* unknown/m)
  expect(listed.exitCode).toBe(0)
})

test('an agent that is interrupted records the command as aborted and exits with 130', async () => {
  const { kill, outcome, log: path } = await busyAgent()
  kill('SIGINT')
  const { exitCode, stderr } = await outcome
  expect(exitCode).toBe(130)
  expect(stderr).toBe('smithers: interrupted\n')

  const log = createSqliteLog({ path })
  const rows = await log.list({ runId: 'run-1' })
  await log.close()
  expect(rows.map(({ status }) => status)).toEqual(['error'])
  expect(rows[0]?.errorJson).toContain('TOOL_ABORTED')
})

test('the next attempt of a killed run tells the model that a command may have had an effect', async () => {
  const { kill, outcome, args, folder, server } = await busyAgent()
  kill('SIGKILL')
  await outcome

  const again = await runSmithers(args, { env: { HOME: folder } })
  expect(again.exitCode).toBe(0)
  expect(again.stdout).toMatch(/^run-1 \(attempt 2\)/)
  const sent = JSON.stringify(server.requests[1]?.body)
  expect(sent).toContain('[smithers:tool-resume-warning]')
  expect(sent).toMatch(/bash/)
})
