import { mkdir, writeFile } from 'node:fs/promises'
import { codingTools, repairToolCall } from '@smithers/builtin-tools'
import { createSqliteLog } from '@smithers/log-sqlite'
import { createToolRun } from '@smithers/tool-core'
import { isStepCount, ToolLoopAgent } from 'ai'
import { scriptedModel } from './scripted-model.ts'

await mkdir('project', { recursive: true })
await writeFile('project/sum.js', 'export const sum = (a, b) => a - b\n')
await writeFile(
  'project/sum.test.js',
  `import assert from 'node:assert'
import { sum } from './sum.js'
assert.equal(sum(2, 2), 4)
console.log('ok')
`,
)
await writeFile('project/package.json', '{ "type": "module" }\n')

// In place of a real one, such as model: 'anthropic/claude-fable-5'.
const model = scriptedModel(
  ['bash', { cmd: 'node', args: ['sum.test.js'] }],
  ['read', { path: 'sum.js' }],
  ['replace', { path: 'sum.js', oldText: 'a - b', newText: 'a + b' }],
  ['bash', { cmd: 'node', args: ['sum.test.js'] }],
  ['read', { path: '../calls.db' }],
  ['bash', { command: 'git push' }],
  'sum subtracted. It adds now, and the test passes.',
)

// The log lies beside the root: the tools must not be able to change their own journal.
const log = createSqliteLog({ path: 'calls.db' })
const run = createToolRun({ runId: 'fix-sum', rootDir: 'project', log, recordContents: true })
const agent = run.agent(
  new ToolLoopAgent({ model, tools: codingTools, repairToolCall, stopWhen: isStepCount(30) }),
)
const { text } = await agent.generate({ prompt: 'The test fails. Fix it.' })
console.log(text)
await log.close()
