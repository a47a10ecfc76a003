import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { createSqliteLog } from '@smithers/log-sqlite'
import { createToolRun, defineTool } from '@smithers/tool-core'
import { expect, test } from 'vitest'
import { z } from 'zod'
import { writeSampleLog } from './fixtures/sample-log.ts'
import { runSmithers, startSmithers } from './fixtures/smithers-process.ts'
import { temporaryFolder } from './fixtures/temporary-folder.ts'

test('smithers calls --follow prints each call of another process as it starts and ends', async () => {
  const path = join(temporaryFolder(), 'calls.db')
  await writeSampleLog(path, [{ seq: 1, toolName: 'read', finish: {} }])
  const smithers = startSmithers(['calls', '--follow', '--json', '--log', path])
  const lines = createInterface({ input: smithers.stdout })[Symbol.asyncIterator]()
  const next = async (): Promise<unknown> => JSON.parse(String((await lines.next()).value))
  expect(await next()).toMatchObject({ runId: 'run-1', outcome: 'ok' })

  const log = createSqliteLog({ path })
  const { promise, resolve: release } = Promise.withResolvers<string>()
  const wait = defineTool({ name: 'wait', schema: z.object({}), execute: () => promise })
  const { execute } = createToolRun({ runId: 'later', log }).tools({ wait }).wait
  const answer = execute({}, { toolCallId: 'c', messages: [] })
  expect(await next()).toMatchObject({ runId: 'later', outcome: 'running' })
  release('done')
  await answer
  expect(await next()).toMatchObject({ runId: 'later', outcome: 'ok', output: 'done' })
  await log.close()
  smithers.kill('SIGINT')
  expect((await smithers.outcome).exitCode).toBe(0)
})

test('smithers calls --trace lists the calls of one trace', async () => {
  const path = join(temporaryFolder(), 'calls.db')
  await writeSampleLog(path, [
    { seq: 1, toolName: 'read', finish: {} },
    { seq: 2, toolName: 'read', traceId: '4bf92f3577b34da6a3ce929d0e0e4736', finish: {} },
  ])
  const trace = ['--trace', '4bf92f3577b34da6a3ce929d0e0e4736']
  const { stdout } = await runSmithers(['calls', ...trace, '--json', '--log', path])
  expect(JSON.parse(stdout)).toMatchObject({ seq: 2 })
})
