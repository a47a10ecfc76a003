import { invalidWorkflow } from '../errors/invalid-workflow.ts'
import { isToolsByName, listAdvice, toolsByName } from '../task/tools-by-name.ts'
import type { TaskProps } from './components.ts'
import { describeNode } from './describe-node.ts'
import { areSeparateChildren, isElement } from './element.ts'
import { assertKnownProps } from './known-props.ts'
import { isOutputReference, type OutputReference } from './output-reference.ts'
import type { OutputsByName, TaskNode } from './tree-node.ts'

/** Checks the properties of one `<Task>` and fills in the defaults. */
export function readTask(props: TaskProps, outputs: OutputsByName): TaskNode {
  assertKnownProps('Task', props)
  const { id, agent, children } = props
  if (typeof id !== 'string' || id === '') {
    throw invalidWorkflow(
      `<Task id> must be a non-empty string, got ${JSON.stringify(id) ?? 'nothing'}.`,
    )
  }
  if (agent !== undefined && typeof agent?.generate !== 'function') {
    throw invalidWorkflow(
      `<Task id="${id}" agent> must be an agent of the AI SDK or another object with generate().`,
    )
  }
  if (!isToolsByName(agent?.tools)) {
    throw invalidWorkflow(
      `<Task id="${id}" agent> has tools that are not ${toolsByName}. ${listAdvice}`,
    )
  }
  const content = contentOf(id, children, agent !== undefined)
  const messages = list(id, 'messages', props.messages)
  if (content === undefined && (agent === undefined || messages.length === 0)) {
    throw invalidWorkflow(
      agent === undefined
        ? `<Task id="${id}"> has neither an agent nor content. Give it an agent and a prompt, or a function.`
        : `<Task id="${id}"> has no prompt. Write it between the tags.`,
    )
  }
  return {
    kind: 'task',
    id,
    output: outputOf(id, props.output, outputs),
    retries: count(id, 'retries', props.retries ?? 0),
    timeoutMs: props.timeoutMs === undefined ? null : duration(id, props.timeoutMs),
    repairs: count(id, 'repairs', props.repairs ?? 2),
    dependsOn: taskIds(id, props.dependsOn),
    agent: agent ?? null,
    tools: toolsOf(id, props.tools),
    messages,
    content,
  }
}

/**
 * Joins text written in parts, as in `Fix {file} now`. A list that is the only child is joined for a prompt and remains
 * a list for a computed task.
 */
function contentOf(id: string, children: unknown, isPrompt: boolean): unknown {
  if (!Array.isArray(children)) {
    if (isElement(children)) throw nested(id)
    if (children instanceof Promise) {
      throw invalidWorkflow(
        `<Task id="${id}"> contains a Promise. Give it an asynchronous function instead, which runs once per attempt.`,
      )
    }
    return children === '' || children === null || children === false ? undefined : children
  }
  if (children.some(isElement)) throw nested(id)
  if (!isPrompt && !areSeparateChildren(children)) return children
  return children.map((child: unknown) => textOf(id, child)).join('')
}

function textOf(id: string, child: unknown): string {
  if (typeof child === 'string' || typeof child === 'number') return String(child)
  if (child === null || child === undefined || typeof child === 'boolean') return ''
  throw invalidWorkflow(
    `<Task id="${id}"> mixes text with ${describeNode(child)}. Write the prompt as text, or give one function.`,
  )
}

function nested(id: string): Error {
  return invalidWorkflow(
    `<Task id="${id}"> contains a tag. Tasks contain text or a function; group tasks with <Sequence>.`,
  )
}

function outputOf(
  id: string,
  output: TaskProps['output'],
  outputs: OutputsByName,
): OutputReference | null {
  if (output === undefined) return null
  const outputName = isOutputReference(output) ? output.name : output
  // Looked up even for a reference: a resume finds the schema of a recorded output by its name.
  const found = outputs.get(outputName)
  if (found !== undefined) return found
  const known = [...outputs.keys()].map((name) => `"${name}"`).join(', ') || 'none'
  throw invalidWorkflow(
    `<Task id="${id}" output> is ${JSON.stringify(outputName)}, which createSmithers does not declare. Declared: ${known}.`,
    { id },
  )
}

function count(id: string, name: string, value: number): number {
  if (Number.isInteger(value) && value >= 0) return value
  throw invalidWorkflow(
    `<Task id="${id}" ${name}> must be a whole number from 0, got ${String(value)}.`,
  )
}

function duration(id: string, value: number): number {
  // Longer delays overflow the timer, which then fires at once.
  if (Number.isFinite(value) && value > 0 && value <= 2 ** 31 - 1) return value
  throw invalidWorkflow(
    `<Task id="${id}" timeoutMs> must be a positive number of at most 2147483647 milliseconds, got ${String(value)}.`,
  )
}

function taskIds(id: string, value: readonly string[] | undefined): readonly string[] {
  const ids: readonly unknown[] = list(id, 'dependsOn', value)
  if (ids.every((each) => typeof each === 'string')) return ids
  throw invalidWorkflow(`<Task id="${id}" dependsOn> must be a list of task ids.`)
}

// Shared: a tree of thousands of tasks is read at every render.
const noItems: readonly never[] = Object.freeze([])
const noTools: TaskNode['tools'] = Object.freeze({})

function list<Item>(id: string, name: string, value: readonly Item[] = noItems): readonly Item[] {
  if (Array.isArray(value)) return value
  throw invalidWorkflow(`<Task id="${id}" ${name}> must be a list, got ${describeNode(value)}.`)
}

function toolsOf(id: string, tools: TaskProps['tools'] = noTools): TaskNode['tools'] {
  if (isToolsByName(tools)) return tools
  throw invalidWorkflow(
    `<Task id="${id}" tools> must be ${toolsByName}, got ${describeNode(tools)}. ${listAdvice}`,
  )
}
