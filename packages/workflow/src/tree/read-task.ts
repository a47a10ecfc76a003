import { invalidWorkflow } from '../errors/invalid-workflow.ts'
import type { TaskProps } from './components.ts'
import { isElement } from './element.ts'
import { isOutputReference, type OutputReference } from './output-reference.ts'
import type { OutputsByName } from './tree-node.ts'
import type { TaskNode } from './tree-node.ts'

/** Checks the properties of one `<Task>` and fills in the defaults. */
export function readTask(props: TaskProps, outputs: OutputsByName): TaskNode {
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
  const content = contentOf(id, children)
  const messages = props.messages ?? []
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
    dependsOn: props.dependsOn ?? [],
    agent: agent ?? null,
    tools: props.tools ?? {},
    messages,
    content,
  }
}

/** Text and numbers side by side are one prompt, as `Fix {file} now` reads. */
function contentOf(id: string, children: unknown): unknown {
  if (!Array.isArray(children)) {
    if (isElement(children)) throw nested(id)
    return children === '' || children === null || children === false ? undefined : children
  }
  return children
    .map((child: unknown) => {
      if (typeof child === 'string' || typeof child === 'number') return String(child)
      if (child === null || child === undefined || typeof child === 'boolean') return ''
      if (isElement(child)) throw nested(id)
      throw invalidWorkflow(
        `<Task id="${id}"> mixes text with a ${typeof child}. Write the prompt as text, or give one function.`,
      )
    })
    .join('')
}

function nested(id: string): Error {
  return invalidWorkflow(
    `<Task id="${id}"> contains a tag. Tasks hold text or a function; group tasks with <Sequence>.`,
  )
}

function outputOf(
  id: string,
  output: TaskProps['output'],
  outputs: OutputsByName,
): OutputReference | null {
  if (output === undefined) return null
  const outputName = isOutputReference(output) ? output.name : output
  // Looked up even when a reference is given: a resume finds the schema of a recorded output by its name.
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
