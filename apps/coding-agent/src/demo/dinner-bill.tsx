// The main job of the demo, one workflow: an agent finds a bug, repairs it and checks the repair, then the first share is
// paid. It runs by itself too, where servers answer at the two addresses: `smithers up dinner-bill.tsx --input '{…}'`.
import { createBuiltinTools, createSmithers, type WorkflowDefinition } from '@smithers/orchestrator'
import { ToolLoopAgent, type ToolSet } from 'ai'
import { z } from 'zod'
import { askedTools } from '../agent/asked-tools.ts'
import { checkRepair, findBug, repairBug } from './bug-hunt.ts'
import { payCarefully } from './careful-payment.ts'
import { chargeAt, findPaymentsAt, payment } from './payment-tools.ts'
import { createScriptedModel, type Script } from './scripted-model.ts'

const { Workflow, Task, smithers, outputs } = createSmithers({
  input: z.object({
    order: z.string(),
    totalCents: z.number(),
    people: z.number(),
    trackerUrl: z.url(),
    paymentUrl: z.url(),
    /** A file that gets everything the models are sent. */
    transcript: z.string().optional(),
  }),
  bug: z.object({ name: z.string(), path: z.string() }),
  repair: z.object({ path: z.string(), patches: z.number() }),
  report: z.object({ said: z.array(z.string()) }),
  share: z.object({ cents: z.number() }),
  payment,
  receipt: z.object({ text: z.string() }),
})

// The first change of each file needs approval; a patch that is mended afterwards does not need it again.
const tools = askedTools({ tools: ['edit'], oncePerFile: true })
const { bash } = createBuiltinTools({ warn() {} })

const workflow: WorkflowDefinition = smithers(({ input, outputs: made }) => {
  const { order, totalCents, people, trackerUrl, paymentUrl, transcript } = input
  // A real program has one agent here, of a real model. What it does next is up to the script, so each part has its own.
  const agentOf = (script: (prompt: string) => Script, its: ToolSet = tools): ToolLoopAgent =>
    new ToolLoopAgent({ model: createScriptedModel(script, transcript), tools: its })
  const splitting = `import { splitEvenly } from './src/split.js'
    console.log(splitEvenly(${totalCents}, ${people})[0])`
  return (
    <Workflow name="dinner-bill">
      <Task id="explore" output={outputs.bug} agent={agentOf(findBug)}>
        Three friends split a bill of 100.00, and their receipts add up to 99.99. Find the bug.
      </Task>
      <Task id="repair" output={outputs.repair} agent={agentOf(repairBug)}>
        {`Repair ${made.bug?.name} in ${made.bug?.path}.`}
      </Task>
      <Task id="verify" output={outputs.report} agent={agentOf(checkRepair)}>
        {`Show that the tests pass. Then tell the tracker at ${trackerUrl} and bring docs/price-list.txt up to date.`}
      </Task>
      <Task id="share" output={outputs.share}>
        {async () => {
          const args = ['--input-type=module', '--eval', splitting]
          const call = { toolCallId: 'share', messages: [] }
          return { cents: Number(await bash.execute({ cmd: 'node', args }, call)) }
        }}
      </Task>
      <Task
        id="pay"
        output={outputs.payment}
        agent={agentOf(payCarefully, {
          charge: chargeAt(paymentUrl),
          find_payments: findPaymentsAt(paymentUrl),
        })}
      >
        {`Pay ${made.share?.cents} cents for the order ${order}.`}
      </Task>
      <Task id="receipt" output={outputs.receipt}>
        {{ text: `${made.payment?.id}: ${made.payment?.cents} cents for ${order}` }}
      </Task>
    </Workflow>
  )
})

export default workflow
