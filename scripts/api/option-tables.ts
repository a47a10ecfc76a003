import {
  type CommentDisplayPart,
  type DeclarationReflection,
  type ProjectReflection,
  ReflectionKind,
  type SomeType,
} from 'typedoc'

/**
 * A page with every option of every package, one a row: the exported interfaces whose names end in `Options`, and the
 * interfaces with optional fields that those take.
 */
export function optionTables(project: ProjectReflection): string {
  const sections = (project.children ?? []).flatMap((module) => {
    const tables = optionTypes(project)
      .filter((type) => type.parent === module)
      .map(table)
    return tables.length === 0 ? [] : [`## ${module.name}`, ...tables]
  })
  return [
    '# Options',
    'Every option of every package, one a row, from the comments in the code. An option with a question mark may be left out.',
    ...sections,
    '',
  ].join('\n\n')
}

function optionTypes(project: ProjectReflection): readonly DeclarationReflection[] {
  const interfaces = project.getReflectionsByKind(
    ReflectionKind.Interface,
  ) as DeclarationReflection[]
  const found = new Set(interfaces.filter(({ name }) => name.endsWith('Options')))
  // A set visits what is added while it is visited.
  for (const type of found) {
    for (const option of type.children ?? []) {
      for (const taken of interfaces) {
        if (!hasOptional(taken) || found.has(taken)) continue
        if (mentions(option.type, taken.name)) found.add(taken)
      }
    }
  }
  return interfaces.filter((type) => found.has(type))
}

function hasOptional({ children = [] }: DeclarationReflection): boolean {
  return children.some(({ flags }) => flags.isOptional)
}

function mentions(type: SomeType | undefined, name: string): boolean {
  return type !== undefined && new RegExp(`\\b${name}\\b`, 'u').test(type.toString())
}

function table(type: DeclarationReflection): string {
  const rows = (type.children ?? []).map((option) =>
    [
      `\`${option.name}${option.flags.isOptional ? '?' : ''}\``,
      code(typeText(option)),
      code(tagText(option, '@default')),
      unit(option),
      meaning(option),
    ]
      .map((cell) => cell.replaceAll(/\s*\n\s*/gu, ' ').replaceAll('|', '\\|'))
      .join(' | '),
  )
  const head = '| option | type | default | unit | meaning |\n| --- | --- | --- | --- | --- |'
  return [
    `### ${type.name}`,
    text(type.comment?.summary ?? []),
    `${head}\n${rows.map((row) => `| ${row} |`).join('\n')}`,
  ].join('\n\n')
}

function typeText({ type, signatures }: DeclarationReflection): string {
  if (type === undefined) return signatures === undefined ? '' : 'function'
  // Every option may be undefined, which the question mark says.
  return type.toString().replace(/^undefined \| | \| undefined$/u, '')
}

function tagText({ comment }: DeclarationReflection, tag: `@${string}`): string {
  const content = comment?.getTag(tag)?.content ?? []
  // TypeDoc fences the value of @default as code.
  return text(content)
    .replaceAll(/^```\w*\n|\n```$/gu, '')
    .trim()
}

function unit(option: DeclarationReflection): string {
  if (option.name.endsWith('Ms')) return 'ms'
  if (/bytes$/iu.test(option.name)) return 'bytes'
  if (/lines$/iu.test(option.name)) return 'lines'
  return ''
}

function meaning(option: DeclarationReflection): string {
  const comment = option.comment ?? option.signatures?.[0]?.comment
  const most = tagText(option, '@maximum')
  return `${text(comment?.summary ?? [])}${most === '' ? '' : ` At most ${most}.`}`
}

function text(parts: readonly CommentDisplayPart[]): string {
  return parts
    .map((part) => (part.kind === 'inline-tag' ? `\`${part.text}\`` : part.text))
    .join('')
    .trim()
}

function code(value: string): string {
  return value === '' ? '' : `\`${value.replaceAll('`', "'")}\``
}
