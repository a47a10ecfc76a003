import {
  type DefinedTool,
  defineTool,
  type ModelBudget,
  type TaskContext,
} from '@smithers/tool-core'
import type { ZodType } from 'zod'
import { type BashInput, bashSchema } from '../command/bash-input.ts'
import { type BundleOptions, defaultOptions, modelBudget } from '../bundle/bundle-options.ts'
import { noteOf } from '../model/model-notes.ts'
import { type GivenOutput, modelText, type ModelText } from '../model/model-text.ts'
import { argumentsOf } from '../bundle/strict-arguments.ts'
import { opensNetwork } from '../bundle/network-of-call.ts'
import { answerCommand, whereItRuns } from '../command/run-command.ts'

/** How the model asks `bash` for less. */
export const bashAdvice =
  'For less, filter the output (head, tail, grep), or write it to a file and read parts of that.'

/** The description of `bash` for the model. */
function describeBash(options: BundleOptions, background: string): string {
  return (
    `Run a program${whereItRuns(options)}: { cmd, args } starts one without a shell; { command } is a script for sh, for pipes, ` +
    `redirects and several commands. Returns stdout and stderr; a non-zero exit is an error. ${background}`
  )
}

/** What all forms of `bash` share. */
export interface BashParts<Input> {
  readonly name: 'bash'
  readonly description: string
  readonly schema: ZodType<Input>
  readonly modelBudget?: ModelBudget
  readonly sideEffect: true
  readonly idempotent: false
  readonly effectScope: (task: TaskContext) => 'external' | 'workspace'
}

/** @param background What the model must know of processes in the background. */
export function bashParts<Input>(
  schema: ZodType<Input>,
  options: BundleOptions,
  background: string,
): BashParts<Input> {
  return {
    name: 'bash',
    description: describeBash(options, background),
    schema: argumentsOf(schema, options),
    ...modelBudget(options, bashAdvice),
    sideEffect: true,
    idempotent: false,
    // Without a network, a command changes only files under the root, visible with `git diff`.
    effectScope: (task) => (opensNetwork(task, options) ? 'external' : 'workspace'),
  }
}

/** What a command printed, and what the model must know of it besides. */
export function commandText(given: GivenOutput): ModelText {
  const text = modelText(given, '(no output)')
  const note = noteOf(given)
  const gap = text.value.endsWith('\n') ? '' : '\n'
  return note === undefined ? text : { ...text, value: `${text.value}${gap}[sandbox] ${note}` }
}

/** For forms of `bash` that wait for the command. */
export const endsWithCommand = 'Background processes end with the command.'

/**
 * Creates the tool `bash` with the options of a bundle.
 *
 * @throws SmithersError `TOOL_COMMAND_FAILED` for a non-zero exit or a signal, with the output in the message;
 * `TOOL_TIMEOUT`, `TOOL_ABORTED`, `TOOL_SPAWN_FAILED`, `TOOL_PATH_ESCAPE`, `TOOL_NETWORK_DISABLED`,
 * `TOOL_GIT_REMOTE_DISABLED`, `TOOL_ISOLATION_UNAVAILABLE`
 */
export function createBashTool(options: BundleOptions): DefinedTool<BashInput, string> {
  return defineTool({
    ...bashParts(bashSchema, options, endsWithCommand),
    execute: (input, ctx) => answerCommand(input, ctx, options),
    toModelOutput: commandText,
  })
}

/** Runs a program or a script, isolated as the options and the machine allow. */
export const bash: DefinedTool<BashInput, string> = createBashTool(defaultOptions)
