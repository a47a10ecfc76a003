import { invalidWorkflow } from '../errors/invalid-workflow.ts'
import type { LoopProps, ParallelProps, TaskProps, WorkflowProps } from './components.ts'
import { describeNode } from './describe-node.ts'
import { type Component, isElement, type WorkflowElement, type WorkflowNode } from './element.ts'
import { assertKnownProps } from './known-props.ts'
import { readLoopProps } from './read-loop.ts'
import { readTask } from './read-task.ts'
import type { LoopNode, OutputsByName, ParallelNode, TreeNode, WorkflowTree } from './tree-node.ts'
import { atLeastOne } from './whole-number.ts'

/** How deep groups may be nested. A sequence in a sequence is dissolved and does not count. */
const maxDepth = 256

/**
 * Turns what a workflow rendered into a tree that the scheduler can trust: components are called, fragments, lists and
 * sequences in sequences are dissolved, every property is checked, and the ids of tasks and of loops are unique.
 *
 * @throws SmithersError `WORKFLOW_INVALID`
 */
export function readTree(rendered: WorkflowNode, outputs: OutputsByName): WorkflowTree {
  const root = call(rendered)
  if (!isElement(root) || root.type !== 'workflow') {
    throw invalidWorkflow(
      `A workflow must render one <Workflow> as its root; this one rendered ${describeNode(root)}.`,
    )
  }
  assertKnownProps('Workflow', root.props)
  const { name, children } = root.props as unknown as WorkflowProps
  if (typeof name !== 'string' || name === '') {
    throw invalidWorkflow(
      `<Workflow name> must be a non-empty string, got ${JSON.stringify(name) ?? 'nothing'}.`,
    )
  }
  const reader = new TreeReader(outputs)
  const nodes = reader.read(children, 'sequence', 0)
  reader.assertLoopsAreNamed()
  return { name, root: { kind: 'sequence', children: nodes }, loops: reader.loops }
}

class TreeReader {
  readonly loops = new Map<string, LoopNode>()
  readonly #taskIds = new Set<string>()
  readonly #outputs: OutputsByName
  #loopCount = 0
  #unnamedLoops = 0

  constructor(outputs: OutputsByName) {
    this.#outputs = outputs
  }

  /** The nodes that `rendered` describes: none for `false`, several for a list. */
  read(rendered: WorkflowNode, within: 'sequence' | 'parallel', depth: number): TreeNode[] {
    if (depth > maxDepth) {
      throw invalidWorkflow(
        `<Parallel>, <Loop> and <Sequence> are nested deeper than ${maxDepth} levels. Use a flatter tree.`,
        { maxDepth },
      )
    }
    const nodes: TreeNode[] = []
    // A stack and no recursion: a component that returns itself may dissolve into thousands of levels.
    const pending: WorkflowNode[] = [rendered]
    while (pending.length > 0) {
      const node = call(pending.pop())
      if (Array.isArray(node)) {
        for (let index = node.length - 1; index >= 0; index -= 1) pending.push(node[index])
      } else if (!isElement(node)) {
        assertRendersNothing(node)
      } else if (dissolves(node, within)) {
        pending.push(childrenOf(node))
      } else {
        nodes.push(this.#node(node, depth))
      }
    }
    return nodes
  }

  /** With a single loop there is nothing to confuse; of several, each needs a name that does not move with the tree. */
  assertLoopsAreNamed(): void {
    if (this.#unnamedLoops === 0 || this.#loopCount === 1) return
    throw invalidWorkflow(
      `The workflow has several loops, and ${this.#unnamedLoops === 1 ? 'one has' : 'some have'} no id. Give each <Loop> an id: it names the loop's progress in the log. A run that began with one unnamed loop knows it as "${unnamedLoop}".`,
    )
  }

  #node(element: WorkflowElement, depth: number): TreeNode {
    switch (element.type) {
      case 'task':
        return this.#task(element)
      case 'sequence':
        assertKnownProps('Sequence', element.props)
        return {
          kind: 'sequence',
          children: this.read(childrenOf(element), 'sequence', depth + 1),
        }
      case 'parallel':
        return this.#parallel(element, depth)
      case 'loop':
        return this.#loop(element, depth)
      default:
        throw invalidWorkflow(
          'A <Workflow> is nested inside another. Use <Sequence> for a part of it.',
        )
    }
  }

  #task(element: WorkflowElement): TreeNode {
    const task = readTask(element.props as unknown as TaskProps, this.#outputs)
    const before = this.#taskIds.size
    if (this.#taskIds.add(task.id).size === before) {
      throw invalidWorkflow(
        `Two tasks have the id "${task.id}". Ids name rows of the log and recorded outputs: give each task its own.`,
        { id: task.id },
      )
    }
    return task
  }

  #parallel(element: WorkflowElement, depth: number): ParallelNode {
    assertKnownProps('Parallel', element.props)
    const { maxConcurrency = 4 } = element.props as ParallelProps
    return {
      kind: 'parallel',
      maxConcurrency: atLeastOne('<Parallel maxConcurrency>', maxConcurrency),
      children: this.read(childrenOf(element), 'parallel', depth + 1),
    }
  }

  #loop(element: WorkflowElement, depth: number): LoopNode {
    const { id: given, ...props } = readLoopProps(element.props as unknown as LoopProps)
    this.#loopCount += 1
    if (given === null) this.#unnamedLoops += 1
    const id = given ?? unnamedLoop
    const children = this.read(childrenOf(element), 'sequence', depth + 1)
    if (given !== null && this.loops.has(id)) {
      throw invalidWorkflow(`Two loops have the id "${id}". Give each its own.`, { id })
    }
    const loop: LoopNode = { kind: 'loop', id, ...props, body: { kind: 'sequence', children } }
    this.loops.set(id, loop)
    return loop
  }
}

/** The id of a loop that is the workflow's only one. */
const unnamedLoop = 'loop'

/** True for elements whose children can take their place. */
function dissolves({ type, props }: WorkflowElement, within: 'sequence' | 'parallel'): boolean {
  if (type === 'fragment') return true
  if (type !== 'sequence' || within !== 'sequence') return false
  assertKnownProps('Sequence', props)
  return true
}

/** Calls components until the result is not one. */
function call(rendered: WorkflowNode): WorkflowNode {
  let node = rendered
  while (isElement(node) && typeof node.type === 'function') {
    const component = node.type as Component<WorkflowElement['props']>
    node = component(node.props)
    if (node instanceof Promise) {
      throw invalidWorkflow(
        `The component ${component.name || 'of a tag'} is asynchronous. A tree is rendered often and synchronously: do the work in a <Task>.`,
      )
    }
  }
  return node
}

/** Anything but an element, a list, or a value that renders nothing is a mistake; dropping it would drop work. */
function assertRendersNothing(node: unknown): void {
  if (node === null || node === undefined || typeof node === 'boolean') return
  if (typeof node === 'string' && node.trim() === '') return
  if (typeof node === 'string' || typeof node === 'number') {
    throw invalidWorkflow(
      `${JSON.stringify(node)} is outside a <Task>. Text is the prompt of a task: wrap it in one.`,
    )
  }
  const advice =
    node instanceof Promise
      ? 'The tree is rendered synchronously: do the work in a <Task>'
      : typeof node === 'function'
        ? 'Call it, or put it inside a <Task>'
        : 'Children are tags, and lists of them'
  throw invalidWorkflow(`The workflow contains ${describeNode(node)} between tags. ${advice}.`)
}

function childrenOf(element: WorkflowElement): WorkflowNode {
  return element.props['children'] as WorkflowNode
}
