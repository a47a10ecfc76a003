import { type BuiltinTools, createBuiltinTools } from '@smithers/builtin-tools'
import { withGates } from '@smithers/tool-core'
import { badInput } from '../command-failure.ts'

/** A built-in tool's name. */
export type ToolName = keyof BuiltinTools

const prompts: Readonly<Record<ToolName, string>> = {
  read: 'Read {{path}}?',
  write: 'Write {{path}}?',
  edit: 'Change {{path}}?',
  grep: 'Search for {{pattern}}?',
  bash: 'Run {{cmd}} {{args}}?',
}

/** Reads the value of `--ask`: names of tools with commas between. */
export function toolNames(value: string): ToolName[] {
  const names = value.split(',').map((name) => name.trim())
  const unknown = names.filter((name) => !Object.hasOwn(prompts, name))
  if (unknown.length > 0) {
    throw badInput(
      `--ask ${value} names no tool: ${unknown.join(', ')}. The tools are ${Object.keys(prompts).join(', ')}.`,
    )
  }
  return names as ToolName[]
}

/** The built-in tools; calls of those that are asked about need approval. */
export function askedTools(ask: readonly ToolName[]): BuiltinTools {
  // What is not enforced was said when the run began.
  const tools = createBuiltinTools({ warn() {} })
  const gated = ask.map((name) => [
    name,
    withGates(tools[name] as never, { needsApproval: true, approvalPrompt: prompts[name] }),
  ])
  return { ...tools, ...Object.fromEntries(gated) } as BuiltinTools
}
