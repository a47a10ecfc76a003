/** The parts of a JSON Schema that the inputs of the built-in tools use. */
export interface InputSchema {
  readonly type?: string
  readonly description?: string
  readonly properties?: Readonly<Record<string, InputSchema>>
  readonly required?: readonly string[]
  readonly enum?: readonly string[]
  readonly items?: InputSchema
  readonly minimum?: number
  readonly maximum?: number
  readonly minLength?: number
  readonly maxLength?: number
  readonly maxItems?: number
}

/** The fields of an input as a Markdown table, and its whole JSON Schema folded below. */
export function inputTable(schema: InputSchema): string {
  const rows = fields(schema, '').map((cells) => `| ${cells.join(' | ')} |`)
  return [
    `| field | type | limits | meaning |\n| --- | --- | --- | --- |\n${rows.join('\n')}`,
    `<details>\n<summary>The JSON Schema that a model sees</summary>`,
    `\`\`\`json\n${JSON.stringify(schema, null, 2)}\n\`\`\``,
    '</details>',
  ].join('\n\n')
}

function fields({ properties = {}, required = [] }: InputSchema, parent: string): string[][] {
  return Object.entries(properties).flatMap(([name, field]) => [
    [
      `\`${parent}${name}${required.includes(name) ? '' : '?'}\``,
      typeOf(field).replaceAll('|', '\\|'),
      limitsOf(field),
      field.description ?? '',
    ],
    ...fields(field, `${parent}${name}.`),
  ])
}

function typeOf({ type, enum: values, items }: InputSchema): string {
  if (values !== undefined) return values.map((value) => `\`'${value}'\``).join(' | ')
  return `\`${type === 'array' ? `${items?.type ?? 'unknown'}[]` : (type ?? 'unknown')}\``
}

function limitsOf(field: InputSchema): string {
  const { minimum, minLength, maxLength, maxItems, items } = field
  // Zod writes the largest safe integer where it has no limit.
  const maximum = field.maximum === Number.MAX_SAFE_INTEGER ? undefined : field.maximum
  return [
    minimum === undefined ? '' : `at least ${minimum}`,
    maximum === undefined ? '' : `at most ${maximum}`,
    minLength === undefined ? '' : 'not empty',
    maxLength === undefined ? '' : `at most ${maxLength} characters`,
    maxItems === undefined ? '' : `at most ${maxItems}`,
    items?.maxLength === undefined ? '' : `each at most ${items.maxLength} characters`,
  ]
    .filter((limit) => limit !== '')
    .join(', ')
}
