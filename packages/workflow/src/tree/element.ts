/** What a component may return and what may appear between two tags. `false`, `null` and `undefined` render nothing. */
export type WorkflowNode =
  | WorkflowElement
  | string
  | number
  | boolean
  | null
  | undefined
  | readonly WorkflowNode[]

/** A function of its properties. It is called on every render and must depend on nothing else. */
export type Component<Props = never> = (props: Props) => WorkflowNode

/** What a JSX tag evaluates to: a plain description. */
export interface WorkflowElement {
  /** One of the built-in kinds, a fragment, or a component. */
  readonly type: ElementKind | Component
  readonly props: Readonly<Record<string, unknown>>
}

/** The tags that the scheduler understands. */
export type ElementKind = 'workflow' | 'task' | 'sequence' | 'parallel' | 'loop' | 'fragment'

// Registered symbols and no classes: elements of two copies of this package are interchangeable.
const elementMarker: unique symbol = Symbol.for('smithers.workflow.element') as never
const separateChildrenMarker: unique symbol = Symbol.for(
  'smithers.workflow.separate-children',
) as never

export function createElement(type: WorkflowElement['type'], props: object): WorkflowElement {
  return {
    type,
    props: props as WorkflowElement['props'],
    [elementMarker]: true,
  } as WorkflowElement
}

export function isElement(value: unknown): value is WorkflowElement {
  return typeof value === 'object' && value !== null && elementMarker in value
}

/**
 * Marks the children of a tag that were written one after another, as in `Fix {file} now`. A list that is a single child,
 * as in `{[1, 2]}`, remains a value.
 */
export function markSeparateChildren(props: object): void {
  const { children } = props as { readonly children?: unknown }
  if (Array.isArray(children))
    Object.defineProperty(children, separateChildrenMarker, { value: true })
}

export function areSeparateChildren(children: readonly unknown[]): boolean {
  return separateChildrenMarker in children
}
