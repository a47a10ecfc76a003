import { createSmithers, runWorkflow } from '@smithers/workflow'
import { z } from 'zod'

const { Workflow, Task, Parallel, smithers, outputs } = createSmithers({
  input: z.object({ cents: z.number() }),
  share: z.object({ cents: z.number() }),
})

const workflow = smithers((ctx) => (
  <Workflow name="dinner">
    <Task id="share" output={outputs.share}>
      {{ cents: ctx.input.cents / 3 }}
    </Task>
    <Parallel>
      <Task id="tell">{() => ctx.outputs.share?.cents}</Task>
    </Parallel>
  </Workflow>
))

const result = await runWorkflow(workflow, { input: { cents: 9 } })
// @ts-expect-error -- an attribute that no tag has.
export const wrong = <Task name="tell" />
export const cents: number | undefined = result.outputs.share?.cents
