import type { ToolCallRow } from '@smithers/tool-core/log'
import { recordedInput } from './recorded-input.ts'

/**
 * A script that makes a call again. Its key is left out on purpose, so the call gets a new one: with the old key the log
 * would answer from the record, and a service would take the call for the first one.
 */
export function reproduction(row: ToolCallRow): string {
  const { json, cut, hidden, missing } = recordedInput(row.inputJson)
  const warnings = [
    missing && 'The arguments were not recorded in a form that can be read. Fill them in.',
    cut && 'The arguments were too long for the log: this is the beginning of them. Fill them in.',
    hidden && 'Parts of the arguments were hidden or only described. Fill them in.',
    row.sideEffect &&
      'This tool has an effect outside the process. Running this script has it again.',
  ].filter((warning) => warning !== false)
  return [
    `// Makes call ${row.seq} of attempt ${row.attempt} again. It leaves out the key of the original on purpose.`,
    ...warnings.map((warning) => `// ${warning}`),
    `import { createToolRun } from '@smithers/tool-core'`,
    `import { createMemoryLog } from '@smithers/tool-core/memory-log'`,
    `import { tools } from './tools.ts' // your tools, by name`,
    '',
    `const name = ${literal(row.toolName)}`,
    `const args = JSON.parse(${literal(json)})`,
    '',
    `const run = createToolRun({`,
    `  runId: \`reproduction-\${Date.now()}\`,`,
    `  nodeId: ${literal(row.nodeId)},`,
    `  log: createMemoryLog(),`,
    `})`,
    `const tool = run.tools(tools)[name]`,
    `console.log(await tool.execute(args, { toolCallId: 'reproduction', messages: [] }))`,
    '',
  ].join('\n')
}

/** A text as a literal of JavaScript that holds no control character and ends no comment, template or element. */
function literal(text: string): string {
  return JSON.stringify(text).replaceAll(
    // oxlint-disable-next-line no-control-regex -- control characters are what it looks for
    /[\u007f-\u009f\u2028\u2029\u200e\u200f\u202a-\u202e\u2066-\u2069<>]/g,
    (character) => String.raw`\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )
}
