import { invalidWorkflow } from '../errors/invalid-workflow.ts'
import { unknownNames } from '../values/known-names.ts'
import type {
  CommonTaskProps,
  LoopProps,
  ParallelProps,
  SequenceProps,
  WorkflowProps,
} from './components.ts'

type Names<Props> = Readonly<Record<keyof Props, true>>

type Tag = 'Workflow' | 'Task' | 'Sequence' | 'Parallel' | 'Loop'

const knownProps: Readonly<Record<Tag, Readonly<Record<string, true>>>> = {
  Workflow: { name: true, children: true } satisfies Names<WorkflowProps>,
  Task: {
    id: true,
    output: true,
    agent: true,
    tools: true,
    messages: true,
    retries: true,
    timeoutMs: true,
    repairs: true,
    dependsOn: true,
    children: true,
  } satisfies Names<CommonTaskProps & { output: never; agent: never; children: never }>,
  Sequence: { children: true } satisfies Names<SequenceProps>,
  Parallel: { maxConcurrency: true, children: true } satisfies Names<ParallelProps>,
  Loop: {
    id: true,
    until: true,
    maxIterations: true,
    onMaxIterations: true,
    children: true,
  } satisfies Names<LoopProps>,
}

/**
 * Refuses properties that a tag does not have.
 *
 * @throws SmithersError `WORKFLOW_INVALID`
 */
export function assertKnownProps(tag: Tag, props: object): void {
  // `key` is React's; the compiler passes it separately unless it comes from a spread.
  const names = unknownNames(props, knownProps[tag])
  if (names === null) return
  const unknown = names.filter((name) => name !== 'key')
  if (unknown.length === 0) return
  const { id } = props as { readonly id?: unknown }
  const named = typeof id === 'string' ? `<${tag} id="${id}">` : `<${tag}>`
  const listed = unknown.map((name) => JSON.stringify(name)).join(', ')
  throw invalidWorkflow(
    `${named} has no ${unknown.length === 1 ? 'property' : 'properties'} ${listed}. Its properties are ${Object.keys(knownProps[tag]).join(', ')}.`,
    { unknown },
  )
}
