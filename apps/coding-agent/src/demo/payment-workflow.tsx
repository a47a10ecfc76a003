// The workflow that the demo starts, kills and resumes: `smithers up payment-workflow.tsx`.
import {
  createBuiltinTools,
  createSmithers,
  defineTool,
  type WorkflowDefinition,
} from '@smithers/orchestrator'
import { ToolLoopAgent } from 'ai'
import { z } from 'zod'
import { createPaymentModel } from './payment-model.ts'

const payment = z.object({ id: z.string(), order: z.string(), cents: z.number() })

const { Workflow, Task, smithers, outputs } = createSmithers({
  input: z.object({ order: z.string(), totalCents: z.number(), people: z.number(), url: z.url() }),
  share: z.object({ cents: z.number() }),
  payment,
  receipt: z.object({ text: z.string() }),
})

const { bash } = createBuiltinTools({ warn() {} })

/** Sends money: it leaves the machine, and sending it twice pays twice. */
const chargeAt = (url: string) =>
  defineTool({
    name: 'charge',
    description: 'Pays for an order.',
    schema: z.object({ order: z.string(), cents: z.number() }),
    sideEffect: true,
    idempotent: false,
    execute: async (order, ctx) => {
      const response = await fetch(url, {
        method: 'POST',
        headers: { 'content-type': 'application/json', 'idempotency-key': ctx.idempotencyKey },
        body: JSON.stringify(order),
        signal: ctx.abortSignal,
      })
      return payment.parse(await response.json())
    },
  })

const findPaymentsAt = (url: string) =>
  defineTool({
    name: 'find_payments',
    description: 'Lists the payments of an order.',
    schema: z.object({ order: z.string() }),
    execute: async ({ order }, ctx) => {
      const response = await fetch(`${url}?order=${order}`, { signal: ctx.abortSignal })
      return z.array(payment).parse(await response.json())
    },
  })

const workflow: WorkflowDefinition = smithers(({ input, outputs: made }) => {
  const { order, totalCents, people, url } = input
  const agent = new ToolLoopAgent({
    model: createPaymentModel(order, made.share?.cents ?? 0),
    tools: { charge: chargeAt(url), find_payments: findPaymentsAt(url) },
  })
  const splitting = `import { splitEvenly } from './src/split.js'
    console.log(splitEvenly(${totalCents}, ${people})[0])`
  return (
    <Workflow name="settle-the-bill">
      <Task id="share" output={outputs.share}>
        {async () => {
          const args = ['--input-type=module', '--eval', splitting]
          const printed = await bash.execute(
            { cmd: 'node', args },
            { toolCallId: 'share', messages: [] },
          )
          return { cents: Number(printed) }
        }}
      </Task>
      <Task id="pay" output={outputs.payment} agent={agent}>
        {`Pay ${made.share?.cents} cents for the order ${order}.`}
      </Task>
      <Task id="receipt" output={outputs.receipt}>
        {{ text: `${made.payment?.id}: ${made.payment?.cents} cents for ${order}` }}
      </Task>
    </Workflow>
  )
})

export default workflow
