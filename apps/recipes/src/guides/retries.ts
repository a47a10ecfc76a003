import { createMemoryLog } from '@smithers/log-memory'
import { createToolRun, defineTool, type OnRetry } from '@smithers/tool-core'
import { z } from 'zod'

/** A bank that books every request, and loses its first answer. */
function createBank() {
  const booked: string[] = []
  return {
    booked,
    transfer(key: string): string {
      booked.push(key)
      if (booked.length === 1) throw new Error('socket hang up')
      return 'transferred'
    },
  }
}

/** Two attempts at one transfer. The first ends without an answer. */
async function transferTwice(onRetry: OnRetry, canAsk: boolean): Promise<string> {
  const bank = createBank()
  const transfer = defineTool({
    name: 'transfer',
    schema: z.object({ invoice: z.string(), note: z.string() }),
    sideEffect: true,
    idempotent: false,
    onRetry,
    // The model may reword the note. The invoice is what makes two transfers the same.
    key: ({ invoice }) => [invoice],
    verify: (_args, { idempotencyKey }) => {
      if (!canAsk) return { happened: 'unknown' }
      return bank.booked.includes(`${idempotencyKey}`)
        ? { happened: true, output: 'transferred' }
        : { happened: false }
    },
    execute: (_args, { idempotencyKey }) => bank.transfer(idempotencyKey),
  })
  const log = createMemoryLog()
  let answer = ''
  for (const [attempt, note] of [
    [1, 'as agreed'],
    [2, 'As agreed.'],
  ] as const) {
    const run = createToolRun({ runId: 'payroll', nodeId: 'pay', attempt, log })
    const call = { toolCallId: `call-${attempt}`, messages: [] }
    answer = await run
      .tools({ transfer })
      .transfer.execute({ invoice: 'R-7', note }, call)
      .catch((error: Error) => error.message.split('. ')[0] ?? '')
  }
  const requests = `${bank.booked.length} request${bank.booked.length === 1 ? '' : 's'}`
  return `${requests}, ${new Set(bank.booked).size} key: ${JSON.stringify(answer)}`
}

for (const [onRetry, canAsk] of [
  ['warn', false],
  ['block', false],
  ['reuse', false],
  ['reuse', true],
] as const) {
  const mode = `${onRetry}${canAsk ? ' with verify' : ''}`
  console.log(`${mode.padEnd(18)} ${await transferTwice(onRetry, canAsk)}`)
}
