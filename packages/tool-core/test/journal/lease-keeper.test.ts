import { setImmediate as nextTurn } from 'node:timers/promises'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { expect, test } from 'vitest'
import { createToolRun, defineTool, type ToolCallLog } from '@smithers/tool-core'
import { createMemoryLog } from '@smithers/tool-core/memory-log'
import { z } from 'zod'
import { callOptions } from '../fixtures/charge-tool.ts'

setFlagsFromString('--expose-gc')
const collectGarbage = runInNewContext('gc') as () => void

async function isForgotten(log: WeakRef<ToolCallLog>): Promise<boolean> {
  for (let tries = 0; tries < 20 && log.deref() !== undefined; tries += 1) {
    await nextTurn()
    collectGarbage()
  }
  return log.deref() === undefined
}

/** Makes a call whose tool runs until it is told to return, in a run that nothing else refers to. */
function callInOwnRun(): {
  readonly log: WeakRef<ToolCallLog>
  readonly answer: Promise<unknown>
  readonly finish: () => void
} {
  const log = createMemoryLog()
  let finish = (): void => {}
  const finished = new Promise<void>((resolve) => {
    finish = resolve
  })
  const wait = defineTool({ name: 'wait', schema: z.object({}), execute: () => finished })
  const { wait: tool } = createToolRun({ log, leaseMs: 3_600_000 }).tools({ wait })
  return { log: new WeakRef(log), answer: tool.execute({}, callOptions()), finish }
}

test('the log of a run leaves memory once its calls are over, and not before', async () => {
  let call: ReturnType<typeof callInOwnRun> | undefined = callInOwnRun()
  const { log, answer, finish } = call
  expect(await isForgotten(log)).toBe(false)
  finish()
  await answer
  call = undefined
  expect(await isForgotten(log)).toBe(true)
})
