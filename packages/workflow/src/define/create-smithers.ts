import { SmithersError } from '@smithers/tool-core'
import type { output as OutputOf, input as InputOf, ZodType } from 'zod'
import { Loop, Parallel, Sequence, Task, Workflow } from '../tree/components.ts'
import type { AgentTaskProps, ComputedTaskProps } from '../tree/components.ts'
import type { WorkflowElement, WorkflowNode } from '../tree/element.ts'
import type { OutputReference } from '../tree/output-reference.ts'
import { isSchema } from '../values/check-value.ts'
import { callerFile } from './caller-file.ts'
import type { WorkflowContext } from './workflow-context.ts'
import { defineWorkflow, type WorkflowDefinition } from './workflow-definition.ts'

/** The schemas of a workflow: one for each output; the key `input` is the schema of the input. */
export type WorkflowSchemas = Readonly<Record<string, ZodType>>

/** References for the property `output` of a `<Task>`, by name. */
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

/** The type of `ctx.input`: the schema's output, or an object of unknown values without a schema. */
export type ParsedInput<Schemas extends WorkflowSchemas> = Schemas extends {
  readonly input: infer Schema extends ZodType
}
  ? OutputOf<Schema>
  : Readonly<Record<string, unknown>>

/** The type of `input` of `runWorkflow`. */
export type GivenInput<Schemas extends WorkflowSchemas> = Schemas extends {
  readonly input: infer Schema extends ZodType
}
  ? InputOf<Schema>
  : Readonly<Record<string, unknown>>

/** Allowed values for the property `output` of a `<Task>`. */
export type GivenOutput<Schemas extends WorkflowSchemas> =
  | OutputReference
  | Exclude<keyof Schemas & string, 'input'>

/** What a `<Task>` with this `output` and without an agent must produce: the input of its schema. */
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
  /** Like the package's `Task`, but `output` takes only declared names and types the result of computed tasks. */
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
  /** Creates a workflow from the function that renders its tree. */
  readonly smithers: (
    render: (context: WorkflowContext<ParsedInput<Schemas>, OutputValues<Schemas>>) => WorkflowNode,
  ) => WorkflowDefinition<GivenInput<Schemas>, OutputValues<Schemas>>
  readonly outputs: OutputReferences<Schemas>
}

/**
 * Declares the outputs of a workflow and returns the typed parts to write it with.
 *
 * @param schemas A Zod schema for each output. The key `input` is the schema of the workflow's input.
 * @throws SmithersError `WORKFLOW_INVALID` for a value that is not a Zod 4 schema.
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
        `createSmithers: "${name}" must be a Zod 4 schema, got ${typeof schema}.`,
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
      defineWorkflow<GivenInput<Schemas>, OutputValues<Schemas>>({
        render: render as WorkflowDefinition['render'],
        inputSchema,
        outputs: references,
        file: callerFile(),
      }),
    outputs: Object.freeze(Object.fromEntries(references)) as OutputReferences<Schemas>,
  })
}
