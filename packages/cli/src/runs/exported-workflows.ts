import { statSync } from 'node:fs'
import { parse, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { WorkflowDefinition } from '@smithers/workflow'
import { badInput } from '../errors/command-failure.ts'
import { describeError } from '../errors/describe-error.ts'
import { looksLikeWorkflow } from './looks-like-workflow.ts'

/**
 * Imports the workflows of some files, by the names under which they are exported. A default export has the name of its
 * file, unless the file also exports it by name.
 *
 * @throws CommandFailure for a file that is missing, cannot be loaded or exports no workflow, and for a name that two
 *   workflows share
 */
export async function exportedWorkflows(
  files: readonly string[],
): Promise<Record<string, WorkflowDefinition>> {
  const workflows = new Map<string, { readonly file: string; readonly own: WorkflowDefinition }>()
  for (const file of files) {
    const found = workflowsOf(await loaded(file), parse(file).name)
    if (found.size === 0) {
      throw badInput(`${file} exports no workflow. Write "export const pay = smithers(…)".`)
    }
    for (const [name, own] of found) {
      const other = workflows.get(name)
      if (other !== undefined && other.own !== own) {
        throw badInput(`${other.file} and ${file} both export a workflow "${name}". Rename one.`)
      }
      workflows.set(name, { file, own })
    }
  }
  return Object.fromEntries([...workflows].map(([name, { own }]) => [name, own]))
}

function workflowsOf(
  { default: unnamed, ...named }: Readonly<Record<string, unknown>>,
  fileName: string,
): Map<string, WorkflowDefinition> {
  const found = new Map<string, WorkflowDefinition>()
  for (const [name, value] of Object.entries(named)) {
    if (looksLikeWorkflow(value)) found.set(name, value)
  }
  if (looksLikeWorkflow(unnamed) && ![...found.values()].includes(unnamed)) {
    found.set(fileName, unnamed)
  }
  return found
}

async function loaded(file: string): Promise<Record<string, unknown>> {
  const path = resolve(file)
  if (statSync(path, { throwIfNoEntry: false })?.isFile() !== true) {
    throw badInput(`There is no workflow at ${file}. Give a file that exports one.`)
  }
  try {
    return (await import(pathToFileURL(path).href)) as Record<string, unknown>
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ERR_UNKNOWN_FILE_EXTENSION') {
      throw badInput(
        `Node cannot read ${file}. Give a .ts, .mts, .js or .mjs file; compile .tsx and .jsx first.`,
        error,
      )
    }
    throw badInput(`The workflow ${file} cannot be loaded: ${describeError(error)}`, error)
  }
}
