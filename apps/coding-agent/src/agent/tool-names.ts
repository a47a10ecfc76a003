import { badInput } from '@smithers/cli/src/errors/command-failure.ts'

/** The approval prompt of each tool, with its arguments as the log shows them. */
export const approvalPrompts = {
  read: 'Read {{path}}?',
  write: 'Write {{path}}?',
  edit: 'Change {{path}}?',
  grep: 'Search for {{pattern}}?',
  bash: 'Run {{cmd}} {{args}}?',
} as const

/** A built-in tool's name. */
export type ToolName = keyof typeof approvalPrompts

/** Reads the value of `--ask`: names of tools with commas between. */
export function toolNames(value: string): ToolName[] {
  const names = value.split(',').map((name) => name.trim())
  const unknown = names.filter((name) => !Object.hasOwn(approvalPrompts, name))
  if (unknown.length > 0) {
    throw badInput(
      `--ask ${value} has unknown tools: ${unknown.join(', ')}. The tools are ${Object.keys(approvalPrompts).join(', ')}.`,
    )
  }
  return names as ToolName[]
}
