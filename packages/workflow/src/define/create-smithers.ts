import { SmithersError } from '@smithers/tool-core'
import type { output as OutputOf, input as InputOf, ZodType } from 'zod'
import { Loop, Parallel, Sequence, Task, Workflow } from '../tree/components.ts'
import type { AgentTaskProps, ComputedTaskProps } from '../tree/components.ts'
import type { WorkflowElement, WorkflowNode } from '../tree/element.ts'
import { type OutputReference } from '../tree/output-reference.ts'
import { isSchema } from '../values/check-value.ts'
import { callerDirectory } from './caller-directory.ts'
import type { WorkflowContext } from './workflow-context.ts'

/** The schemas of a workflow: one for each output, and under the key `input` the input's. */
export type WorkflowSchemas = Readonly<Record<string, ZodType>>

/** The references that `output` of a `<Task>` takes, by name. */
export type OutputReferences<Schemas extends WorkflowSchemas> = {
  readonly [Name in Exclude<keyof Schemas, 'input'>]: OutputReference<
    OutputOf<Schemas[Name]>,
    InputOf<Schemas[Name]>
  >
}

/** Values of the outputs, by name. */
export type OutputValues<Schemas extends WorkflowSchemas> = {
  readonly [Name in Exclude<keyof Schemas, 'input'>]: OutputOf<Schemas[Name]>
}

/** What `ctx.input` is: the schema's output, or an object of unknown values when there is no schema. */
export type ParsedInput<Schemas extends WorkflowSchemas> = Schemas extends {
  readonly input: infer Schema extends ZodType
}
  ? OutputOf<Schema>
  : Readonly<Record<string, unknown>>

/** What `runWorkflow` takes as `input`. */
export type GivenInput<Schemas extends WorkflowSchemas> = Schemas extends {
  readonly input: infer Schema extends ZodType
}
  ? InputOf<Schema>
  : Readonly<Record<string, unknown>>

const marker: unique symbol = Symbol.for('smithers.workflow.definition') as never

/** A workflow: what `smithers(…)` returns and `runWorkflow` takes. */
export interface WorkflowDefinition<Input = never, Outputs extends object = object> {
  /** Renders the tree. */
  readonly render: (context: WorkflowContext<never, never>) => WorkflowNode
  readonly inputSchema: ZodType | null
  readonly outputs: ReadonlyMap<string, OutputReference>
  /** The directory of the file that defined it; null when that is no file. */
  readonly directory: string | null
  /** Types only. */
  readonly types?: { readonly input: (input: Input) => void; readonly outputs: Outputs }
}

/** What `output` of a `<Task>` may be. */
export type GivenOutput<Schemas extends WorkflowSchemas> =
  | OutputReference
  | Exclude<keyof Schemas & string, 'input'>

/** What a `<Task>` with this `output` and without an agent must make: what its schema reads. */
export type ResultFor<Schemas extends WorkflowSchemas, Given> = [Given] extends [never]
  ? unknown
  : Given extends OutputReference<unknown, infer Result>
    ? Result
    : Given extends keyof Schemas
      ? InputOf<Schemas[Given]>
      : unknown

/** What {@link createSmithers} returns. */
export interface Smithers<Schemas extends WorkflowSchemas> {
  readonly Workflow: typeof Workflow
  /** As the package's `Task`; `output` takes only declared names, and decides what a task without an agent makes. */
  readonly Task: <const Given extends GivenOutput<Schemas> = never>(
    props:
      | (Omit<AgentTaskProps, 'output'> & { readonly output?: Given })
      | (Omit<ComputedTaskProps<unknown, ResultFor<Schemas, Given>>, 'output'> & {
          readonly output?: Given
        }),
  ) => WorkflowElement
  readonly Sequence: typeof Sequence
  readonly Parallel: typeof Parallel
  readonly Loop: typeof Loop
  /** Makes a workflow of the function that renders its tree. */
  readonly smithers: (
    render: (context: WorkflowContext<ParsedInput<Schemas>, OutputValues<Schemas>>) => WorkflowNode,
  ) => WorkflowDefinition<GivenInput<Schemas>, OutputValues<Schemas>>
  readonly outputs: OutputReferences<Schemas>
}

/**
 * Declares the outputs of a workflow and returns the parts to write it with (S0 §Built-in tools).
 *
 * @param schemas A Zod schema for each output. The key `input` is the schema of the workflow's input.
 * @throws SmithersError `WORKFLOW_INVALID` for a value that is no Zod schema.
 *
 * @example
 * const { Workflow, Task, smithers, outputs } = createSmithers({ result: z.object({ summary: z.string() }) })
 */
export function createSmithers<const Schemas extends WorkflowSchemas>(
  schemas: Schemas,
): Smithers<Schemas> {
  const references = new Map<string, OutputReference>()
  for (const [name, schema] of Object.entries(schemas)) {
    if (!isSchema(schema)) {
      throw new SmithersError(
        'WORKFLOW_INVALID',
        `createSmithers: "${name}" must be a schema of Zod 4, got ${typeof schema}.`,
      )
    }
    if (name !== 'input') references.set(name, Object.freeze({ name, schema }))
  }
  const inputSchema = schemas['input'] ?? null
  return Object.freeze({
    Workflow,
    Task: Task as Smithers<Schemas>['Task'],
    Sequence,
    Parallel,
    Loop,
    smithers: (render: unknown) =>
      Object.freeze({
        [marker]: true,
        render: render as WorkflowDefinition['render'],
        inputSchema,
        outputs: references,
        directory: callerDirectory(),
      }),
    outputs: Object.freeze(Object.fromEntries(references)) as OutputReferences<Schemas>,
  })
}

/** True for what `smithers(…)` returned, also from another copy of this package. */
export function isWorkflow(value: unknown): value is WorkflowDefinition {
  return typeof value === 'object' && value !== null && marker in value
}
