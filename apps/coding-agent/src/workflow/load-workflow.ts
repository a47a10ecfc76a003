import { statSync } from 'node:fs'
import { extname, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { WorkflowDefinition } from '@smithers/workflow'
import { badInput } from '@smithers/cli/src/errors/command-failure.ts'
import { describeError } from '@smithers/cli/src/errors/describe-error.ts'
import { looksLikeWorkflow } from '@smithers/cli/src/runs/looks-like-workflow.ts'
import type { ProgramGuard } from './program-guard.ts'
import { registerTsxHooks } from './tsx-hooks.ts'

/** A workflow and its file. */
export interface LoadedWorkflow {
  readonly workflow: WorkflowDefinition
  /** Absolute. */
  readonly path: string
}

const extensions = ['.tsx', '.jsx', '.ts', '.mts', '.js', '.mjs']

/**
 * The absolute path of a file that may contain a workflow.
 *
 * @throws CommandFailure
 */
export function workflowPath(file: string): string {
  const path = resolve(file)
  if (statSync(path, { throwIfNoEntry: false })?.isFile() !== true) {
    throw badInput(`There is no workflow at ${file}. Give a file that exports one.`)
  }
  if (!extensions.includes(extname(path))) {
    throw badInput(`${file} is not a program. A workflow is a file with ${extensions.join(', ')}.`)
  }
  return path
}

/** Imports the workflow that a file exports, as its default or under any name. `guard` checks what is imported. */
export async function loadWorkflow(file: string, guard: ProgramGuard): Promise<LoadedWorkflow> {
  const path = workflowPath(file)
  registerTsxHooks(guard)
  let exported: Record<string, unknown>
  try {
    exported = (await import(pathToFileURL(path).href)) as Record<string, unknown>
  } catch (error) {
    throw badInput(`The workflow ${file} cannot be loaded: ${describeError(error)}`, error)
  }
  const workflows = [...new Set(Object.values(exported).filter(looksLikeWorkflow))]
  const workflow = looksLikeWorkflow(exported['default']) ? exported['default'] : workflows[0]
  if (workflow === undefined) {
    throw badInput(
      `${file} exports no workflow. Write "export default smithers((ctx) => <Workflow name=…>…</Workflow>)".`,
    )
  }
  if (workflow !== exported['default'] && workflows.length > 1) {
    throw badInput(`${file} exports ${workflows.length} workflows. Make one of them the default.`)
  }
  return { workflow, path }
}
