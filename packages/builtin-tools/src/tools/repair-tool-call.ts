import { argumentNames, plainName, toolNames } from './argument-names.ts'

/** The part of a call that is repaired. */
interface RepairableCall {
  readonly toolName: string
  /** JSON. */
  readonly input: string
}

interface InputSchema {
  readonly properties?: Readonly<Record<string, unknown>>
  readonly required?: readonly string[]
}

type Arguments = Readonly<Record<string, unknown>>

/**
 * Repairs a call whose tool or arguments a model has misspelt, for `experimental_repairToolCall` of the AI SDK 5 and 6 and
 * `repairToolCall` of 7: `file_path` for `path`, `old_string` for `oldText`, `"10"` for `10`, `Read` for `read`, and `edit`
 * with a pair of texts for `replace`. Names and values are only mapped, never invented: a call with two candidates for one
 * argument, or without a required one, is left to the model.
 *
 * @returns the repaired call; null when nothing helps
 *
 * @example
 * const agent = new ToolLoopAgent({ model, tools: codingTools, repairToolCall })
 */
export async function repairToolCall<Call extends RepairableCall>({
  toolCall,
  tools,
  inputSchema,
}: {
  readonly toolCall: Call
  readonly tools: object
  readonly inputSchema: (options: { toolName: string }) => unknown
}): Promise<Call | null> {
  const given = parsedArguments(toolCall.input)
  const named = toolNamed(toolCall.toolName, tools)
  if (given === undefined || named === undefined) return null
  const toolName =
    named === 'edit' && Object.hasOwn(tools, 'replace') && hasTexts(given) ? 'replace' : named
  if (!Object.hasOwn(argumentNames, toolName)) return null
  const schema = (await inputSchema({ toolName })) as InputSchema
  const input = repairedArguments(toolName, given, schema)
  if (input === undefined || schema.required?.some((name) => input[name] === undefined) === true) {
    return null
  }
  const text = JSON.stringify(input)
  const isSame = toolName === toolCall.toolName && text === JSON.stringify(given)
  return isSame && typeof JSON.parse(toolCall.input) === 'object'
    ? null
    : { ...toolCall, toolName, input: text }
}

/** The arguments, also when they were encoded twice. */
function parsedArguments(input: string): Arguments | undefined {
  let value: unknown = input
  try {
    for (let times = 0; times < 2 && typeof value === 'string'; times += 1) {
      value = JSON.parse(value)
    }
  } catch {
    return undefined
  }
  return typeof value === 'object' && value !== null && !Array.isArray(value)
    ? (value as Arguments)
    : undefined
}

/** The tool that a name means, of those that the agent has. */
function toolNamed(name: string, tools: object): string | undefined {
  if (Object.hasOwn(tools, name)) return name
  const plain = plainName(name)
  return Object.keys(toolNames).find(
    (own) =>
      Object.hasOwn(tools, own) && (plain === own || toolNames[own]?.includes(plain) === true),
  )
}

function hasTexts(given: Arguments): boolean {
  const names = Object.keys(given).map(plainName)
  const isOne = (name: string): boolean => {
    const others = argumentNames['replace']?.[name] ?? []
    return names.some((each) => each === plainName(name) || others.includes(each))
  }
  return !Object.hasOwn(given, 'patch') && isOne('oldText') && isOne('newText')
}

/** Undefined when two arguments mean the same one. */
function repairedArguments(
  toolName: string,
  given: Arguments,
  { properties = {} }: InputSchema,
): Arguments | undefined {
  const repaired: Record<string, unknown> = {}
  for (const [name, value] of Object.entries(given)) {
    const named = argumentNamed(toolName, name, given, properties) ?? name
    const own = named === 'timeoutMs' && mayBeSeconds(name, value) ? name : named
    if (own in repaired) return undefined
    repaired[own] = typedValue(own, value, properties[own])
  }
  const { cwd, opts, ...others } = repaired
  // bash takes its directory in a group.
  if (toolName === 'bash' && typeof cwd === 'string' && opts === undefined) {
    return { ...others, opts: { cwd } }
  }
  return repaired
}

/** Other tools take seconds as `timeout`; as milliseconds, so few would end most commands. */
function mayBeSeconds(name: string, value: unknown): boolean {
  return plainName(name) === 'timeout' && !(Number(value) >= 1_000)
}

function argumentNamed(
  toolName: string,
  name: string,
  given: Arguments,
  properties: Readonly<Record<string, unknown>>,
): string | undefined {
  if (Object.hasOwn(properties, name)) return name
  const plain = plainName(name)
  const spelt = Object.keys(properties).find((own) => plainName(own) === plain)
  if (spelt !== undefined) return spelt
  const names = argumentNames[toolName] ?? {}
  return Object.keys(names).find(
    (own) =>
      names[own]?.includes(plain) === true &&
      Object.hasOwn(properties, own) &&
      !Object.hasOwn(given, own),
  )
}

/** Numbers and truth values that were written as text, and the words of other tools for a mode. */
function typedValue(name: string, value: unknown, property: unknown): unknown {
  if (typeof value !== 'string') return value
  const type =
    typeof property === 'object' && property !== null && 'type' in property
      ? property.type
      : undefined
  if ((type === 'integer' || type === 'number') && /^-?\d+$/u.test(value)) return Number(value)
  if (type === 'boolean' && /^(?:true|false)$/iu.test(value)) return value.toLowerCase() === 'true'
  if (name === 'mode' && value === 'files_with_matches') return 'files'
  return name === 'mode' && value === 'content' ? 'lines' : value
}
