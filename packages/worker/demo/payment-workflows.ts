import { setTimeout as sleep } from 'node:timers/promises'
import { defineTool } from '@smithers/tool-core'
import { createSmithers, Parallel, type WorkflowDefinition } from '@smithers/workflow'
import type { WorkerWorkflows } from '@smithers/worker'
import { z } from 'zod'

const input = z.object({
  order: z.string(),
  /** How many, one a task. */
  charges: z.number(),
})
const receipt = z.object({ order: z.string() })

/**
 * The workflows of the cluster: `pay` charges in one task after the other, `pay-together` in tasks side by side,
 * `pay-approved` once a person has agreed to the first charge, `fail` never succeeds.
 */
export function paymentWorkflows(url: string): WorkerWorkflows {
  const charge = chargeAt(url, false)
  const approved = chargeAt(url, true)
  return {
    pay: payments('pay', charge, false),
    'pay-together': payments('pay-together', charge, true),
    'pay-approved': payments('pay-approved', approved, false),
    fail: failing(charge),
  }
}

/** Unlike the server, the tool knows of earlier payments: it asks before it repeats one whose outcome is unknown. */
function chargeAt(url: string, needsApproval: boolean) {
  return defineTool({
    name: 'charge',
    schema: receipt,
    sideEffect: true,
    idempotent: false,
    onRetry: 'reuse',
    needsApproval,
    verify: async ({ order }, prior) => {
      const found = await fetch(`${url}?key=${encodeURIComponent(prior.idempotencyKey ?? '')}`)
      const [payment] = (await found.json()) as readonly unknown[]
      return payment === undefined ? { happened: false } : { happened: true, output: { order } }
    },
    execute: async ({ order }, { idempotencyKey, abortSignal }) => {
      const body = JSON.stringify({ order, key: idempotencyKey })
      const answer = await fetch(url, { method: 'POST', body, signal: abortSignal })
      await answer.json()
      return { order }
    },
  })
}

type ChargeTool = ReturnType<typeof chargeAt>

function payments(name: string, charge: ChargeTool, together: boolean): WorkflowDefinition {
  const { Workflow, Task, smithers, outputs } = createSmithers({ input, receipt })
  return smithers((ctx) => {
    const { order, charges } = ctx.input
    const tasks = Array.from({ length: charges }, (_, index) =>
      Task({
        id: `charge-${index + 1}`,
        output: outputs.receipt,
        children: async () => {
          const args = { order: `${order}-${index + 1}` }
          await charge.execute(args, { toolCallId: args.order, messages: [] })
          return args
        },
      }),
    )
    return Workflow({ name, children: together ? Parallel({ children: tasks }) : tasks })
  })
}

/** Charges once, and fails in every attempt of its second task. */
function failing(charge: ChargeTool): WorkflowDefinition {
  const { Workflow, Task, smithers, outputs } = createSmithers({ input, receipt })
  return smithers(({ input: { order } }) =>
    Workflow({
      name: 'fail',
      children: [
        Task({
          id: 'charge-1',
          output: outputs.receipt,
          children: async () => {
            const args = { order: `${order}-1` }
            await charge.execute(args, { toolCallId: args.order, messages: [] })
            return args
          },
        }),
        Task({
          id: 'fail',
          output: outputs.receipt,
          children: async () => {
            await sleep(1)
            throw new Error(`no stock for ${order}`)
          },
        }),
      ],
    }),
  )
}
