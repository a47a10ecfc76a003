import { statSync } from 'node:fs'
import { extname, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { WorkflowDefinition } from '@smithers/workflow'
import { badInput } from '../command-failure.ts'
import { describeError } from '../describe-error.ts'
import { registerTsxHooks } from './tsx-hooks.ts'

/** A workflow and where it came from. */
export interface LoadedWorkflow {
  readonly workflow: WorkflowDefinition
  /** Absolute. */
  readonly path: string
}

const extensions = ['.tsx', '.jsx', '.ts', '.mts', '.js', '.mjs']

/** Imports the workflow that a file exports, as its default or under any name. */
export async function loadWorkflow(file: string): Promise<LoadedWorkflow> {
  const path = resolve(file)
  if (statSync(path, { throwIfNoEntry: false })?.isFile() !== true) {
    throw badInput(`There is no workflow at ${file}. Give a file that exports one.`)
  }
  if (!extensions.includes(extname(path))) {
    throw badInput(`${file} is no program. A workflow is a file with ${extensions.join(', ')}.`)
  }
  registerTsxHooks()
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

/** Another copy of the package may have made it, so its shape is asked and not its class. */
function looksLikeWorkflow(value: unknown): value is WorkflowDefinition {
  return (
    typeof value === 'object' &&
    value !== null &&
    typeof (value as { render?: unknown }).render === 'function' &&
    (value as { outputs?: unknown }).outputs instanceof Map
  )
}
