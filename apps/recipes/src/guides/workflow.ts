import { appendFileSync, existsSync } from 'node:fs'
import { createSqliteLog } from '@smithers/log-sqlite'
import { defineTool } from '@smithers/tool-core'
import { createSmithers, runWorkflow } from '@smithers/workflow'
import { ToolLoopAgent } from 'ai'
import { z } from 'zod'
import { scriptedModel } from './scripted-model.ts'

const publish = defineTool({
  name: 'publish',
  description: 'Publishes the release notes.',
  schema: z.object({ version: z.string() }),
  sideEffect: true,
  idempotent: false,
  execute: ({ version }, { idempotencyKey }) => {
    appendFileSync('published.txt', `${version} ${idempotencyKey}\n`)
    // The process dies once, after the notes are out.
    if (!existsSync('crashed.txt')) {
      appendFileSync('crashed.txt', 'yes\n')
      process.kill(process.pid, 'SIGKILL')
    }
    return `published ${version}`
  },
  onRetry: 'reuse',
  verify: ({ version }) =>
    existsSync('published.txt')
      ? { happened: true, output: `published ${version}` }
      : { happened: false },
})

const { Workflow, Task, smithers, outputs } = createSmithers({
  input: z.object({ version: z.string() }),
  notes: z.object({ text: z.string() }),
})

// As JSX: <Workflow name="release"><Task id="notes" output={outputs.notes}>…</Task>…</Workflow>
const release = smithers(({ input, outputs: made }) =>
  Workflow({
    name: 'release',
    children: [
      Task({
        id: 'notes',
        output: outputs.notes,
        children: () => {
          console.log('writing the notes')
          return { text: `What is new in ${input.version}` }
        },
      }),
      Task({
        id: 'publish',
        agent: new ToolLoopAgent({
          model: scriptedModel(['publish', { version: input.version }], 'It is out.'),
          tools: { publish },
        }),
        children: `Publish: ${made.notes?.text}`,
      }),
      Task({ id: 'tell', children: () => console.log('telling the team') }),
    ],
  }),
)

const log = createSqliteLog({ path: 'calls.db' })
const { status } = await runWorkflow(release, {
  runId: 'release-2.0',
  input: { version: '2.0' },
  rootDir: '.',
  log,
})
console.log(status)
await log.close()
