/** What a component may return and what may stand between two tags. `false`, `null` and `undefined` leave no trace. */
export type WorkflowNode =
  | WorkflowElement
  | string
  | number
  | boolean
  | null
  | undefined
  | readonly WorkflowNode[]

/** A function of its properties. It is called each time the tree is rendered and must depend on nothing else. */
export type Component<Props = never> = (props: Props) => WorkflowNode

/** What a JSX tag evaluates to: a plain description that nothing has acted on yet. */
export interface WorkflowElement {
  /** One of the five built-in kinds, a fragment, or a function still to be called. */
  readonly type: ElementKind | Component
  readonly props: Readonly<Record<string, unknown>>
}

/** What the scheduler knows. */
export type ElementKind = 'workflow' | 'task' | 'sequence' | 'parallel' | 'loop' | 'fragment'

// A property and not a class: elements of two copies of this package are the same.
const marker: unique symbol = Symbol.for('smithers.workflow.element') as never

export function createElement(type: WorkflowElement['type'], props: object): WorkflowElement {
  return { type, props: props as WorkflowElement['props'], [marker]: true } as WorkflowElement
}

export function isElement(value: unknown): value is WorkflowElement {
  return typeof value === 'object' && value !== null && marker in value
}
