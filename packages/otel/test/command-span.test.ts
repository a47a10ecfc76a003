import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { SpanStatusCode } from '@opentelemetry/api'
import { createBuiltinTools } from '@smithers/builtin-tools'
import { openTelemetry } from '@smithers/otel'
import { createToolRun } from '@smithers/tool-core'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { recordTelemetry } from './fixtures/recorder.ts'
import { call } from './fixtures/shop-tools.ts'

let rootDir = ''
beforeEach(async () => {
  rootDir = await mkdtemp(join(tmpdir(), 'smithers-otel-'))
})
afterEach(() => rm(rootDir, { recursive: true, force: true }))

const printParent = { command: 'printf %s "$TRACEPARENT"' }

test('a command has a span beneath its call, and gets that span as TRACEPARENT', async () => {
  using recorder = recordTelemetry()
  const run = createToolRun({ runId: 'r', rootDir, telemetry: openTelemetry() })
  const { bash } = run.tools(createBuiltinTools({ rootDir }))
  const printed = await bash.execute(printParent, call())
  const command = recorder.span('bash sh')
  const { traceId, spanId } = command.spanContext()
  expect(printed).toBe(`00-${traceId}-${spanId}-01`)
  const parent = recorder.span('execute_tool bash').spanContext()
  expect(command.parentSpanContext?.spanId).toBe(parent.spanId)
  expect(command.attributes).toMatchObject({
    'process.command': 'sh',
    'process.exit.code': 0,
    'smithers.command.status': 'exited',
  })
  expect(command.attributes['smithers.sandbox.files']).toMatch(/enforced|not-enforced/)
})

test('a command that fails has a span with an error status', async () => {
  using recorder = recordTelemetry()
  const run = createToolRun({ runId: 'r', rootDir, telemetry: openTelemetry() })
  const { bash } = run.tools(createBuiltinTools({ rootDir }))
  await bash.execute({ command: 'exit 3' }, call()).catch(() => undefined)
  const command = recorder.span('bash sh')
  expect(command.attributes['process.exit.code']).toBe(3)
  expect(command.status.code).toBe(SpanStatusCode.ERROR)
  // Its outcome is known, even if it may have changed something.
  expect(recorder.span('execute_tool bash').attributes['smithers.call.outcome']).toBe('error')
})

test('nothing is passed on with propagate: false, or without a span', async () => {
  using recorder = recordTelemetry()
  const closed = createToolRun({
    runId: 'r',
    rootDir,
    telemetry: openTelemetry({ propagate: false }),
  })
  const tools = createBuiltinTools({ rootDir })
  expect(await closed.tools(tools).bash.execute(printParent, call())).toBe('')
  const unwatched = createToolRun({ runId: 's', rootDir, telemetry: false })
  expect(await unwatched.tools(tools).bash.execute(printParent, call())).toBe('')
  expect(recorder.spans().filter(({ name }) => name === 'execute_tool bash')).toHaveLength(1)
})

test('what the environment of the tools sets wins over the trace', async () => {
  using recorder = recordTelemetry()
  const run = createToolRun({ runId: 'r', rootDir, telemetry: openTelemetry() })
  const tools = createBuiltinTools({ rootDir, env: { set: { TRACEPARENT: 'mine' } } })
  expect(await run.tools(tools).bash.execute(printParent, call())).toBe('mine')
  expect(recorder.span('bash sh').ended).toBe(true)
})

test('a search has a span for ripgrep, which no match does not fail', async () => {
  using recorder = recordTelemetry()
  await writeFile(join(rootDir, 'notes.txt'), 'milk\n')
  const run = createToolRun({ runId: 'r', rootDir, telemetry: openTelemetry() })
  const { grep } = run.tools(createBuiltinTools({ rootDir }))
  await grep.execute({ pattern: 'bread' }, call())
  const search = recorder.span('rg')
  expect(search.attributes).toMatchObject({ 'process.exit.code': 1 })
  expect(search.status.code).toBe(SpanStatusCode.UNSET)
})
