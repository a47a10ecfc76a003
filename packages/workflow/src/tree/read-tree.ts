import { invalidWorkflow } from '../errors/invalid-workflow.ts'
import type { LoopProps, ParallelProps, TaskProps, WorkflowProps } from './components.ts'
import { type Component, isElement, type WorkflowElement, type WorkflowNode } from './element.ts'
import { readTask } from './read-task.ts'
import type { LoopNode, OutputsByName, TreeNode, WorkflowTree } from './tree-node.ts'

/**
 * Turns what a workflow rendered into a tree that the scheduler can trust: components are called, fragments and lists
 * dissolved, every property is checked, and no two tasks and no two loops share an id.
 *
 * @throws SmithersError `WORKFLOW_INVALID`
 */
export function readTree(rendered: WorkflowNode, outputs: OutputsByName): WorkflowTree {
  const root = call(rendered)
  if (!isElement(root) || root.type !== 'workflow') {
    throw invalidWorkflow(
      `A workflow must render one <Workflow> as its root; this one rendered ${describe(root)}.`,
    )
  }
  const { name, children } = root.props as unknown as WorkflowProps
  if (typeof name !== 'string' || name === '') {
    throw invalidWorkflow(
      `<Workflow name> must be a non-empty string, got ${JSON.stringify(name) ?? 'nothing'}.`,
    )
  }
  const reader = new TreeReader(outputs)
  const nodes = reader.read(children, 'loop')
  return { name, root: { kind: 'sequence', children: nodes }, loops: reader.loops }
}

class TreeReader {
  readonly loops = new Map<string, LoopNode>()
  readonly #taskIds = new Set<string>()
  readonly #outputs: OutputsByName

  constructor(outputs: OutputsByName) {
    this.#outputs = outputs
  }

  /** The nodes that stand for `rendered`: none for `false`, several for a list. `place` names the position. */
  read(rendered: WorkflowNode, place: string): TreeNode[] {
    const nodes: TreeNode[] = []
    this.#collect(rendered, place, nodes)
    return nodes
  }

  #collect(rendered: WorkflowNode, place: string, into: TreeNode[]): void {
    const node = call(rendered)
    if (Array.isArray(node)) {
      for (const [index, child] of node.entries()) this.#collect(child, `${place}.${index}`, into)
    } else if (isElement(node)) {
      if (node.type === 'fragment') this.#collect(childrenOf(node), place, into)
      else into.push(this.#node(node, place))
    } else if (typeof node === 'string' ? node.trim() !== '' : typeof node === 'number') {
      throw invalidWorkflow(
        `${JSON.stringify(node)} stands outside a <Task>. Text is the prompt of a task: wrap it in one.`,
      )
    }
  }

  #node(element: WorkflowElement, place: string): TreeNode {
    switch (element.type) {
      case 'task': {
        const task = readTask(element.props as unknown as TaskProps, this.#outputs)
        if (this.#taskIds.has(task.id)) {
          throw invalidWorkflow(
            `Two tasks have the id "${task.id}". Ids name rows of the log and recorded outputs: give each task its own.`,
            { id: task.id },
          )
        }
        this.#taskIds.add(task.id)
        return task
      }
      case 'sequence':
        return { kind: 'sequence', children: this.read(childrenOf(element), place) }
      case 'parallel': {
        const { maxConcurrency = 4 } = element.props as ParallelProps
        atLeastOne('<Parallel maxConcurrency>', maxConcurrency)
        return {
          kind: 'parallel',
          maxConcurrency,
          children: this.read(childrenOf(element), place),
        }
      }
      case 'loop':
        return this.#loop(element, place)
      default:
        throw invalidWorkflow(
          'A <Workflow> stands inside another. Use <Sequence> for a part of it.',
        )
    }
  }

  #loop(element: WorkflowElement, place: string): LoopNode {
    const props = element.props as unknown as LoopProps
    const { id = place, until, maxIterations = 10, onMaxIterations = 'continue' } = props
    atLeastOne('<Loop maxIterations>', maxIterations)
    if (this.loops.has(id)) {
      throw invalidWorkflow(`Two loops have the id "${id}". Give each its own, or none.`, { id })
    }
    const body = this.read(childrenOf(element), id)
    const loop: LoopNode = {
      kind: 'loop',
      id,
      // A condition such as `ctx.outputs.check?.passed` is undefined before its task has run.
      until: until === true,
      maxIterations,
      onMaxIterations,
      body: { kind: 'sequence', children: body },
    }
    this.loops.set(id, loop)
    return loop
  }
}

/** Calls components until something remains that is not one. */
function call(rendered: WorkflowNode): WorkflowNode {
  let node = rendered
  while (isElement(node) && typeof node.type === 'function') {
    const component = node.type as Component<WorkflowElement['props']>
    node = component(node.props)
    if (node instanceof Promise) {
      throw invalidWorkflow(
        `The component ${component.name || 'of a tag'} is asynchronous. A tree is rendered often and at once: do the work in a <Task>.`,
      )
    }
  }
  return node
}

function childrenOf(element: WorkflowElement): WorkflowNode {
  return element.props['children'] as WorkflowNode
}

function describe(node: unknown): string {
  if (isElement(node)) return `<${String(node.type)}>`
  return Array.isArray(node) ? 'a list' : node === null ? 'null' : `a value of type ${typeof node}`
}

function atLeastOne(what: string, value: unknown): void {
  if (Number.isInteger(value) && (value as number) >= 1) return
  if (value === Number.POSITIVE_INFINITY) return
  throw invalidWorkflow(`${what} must be a whole number from 1, got ${String(value)}.`)
}
