/** Prints docs/command-line-json.md: what `smithers … --json` prints, from the schema of `@smithers/cli`. */
import { jsonSchema } from '../packages/cli/src/documents/json-schema.ts'

interface Property {
  readonly type?: string | readonly string[]
  readonly const?: string
  readonly enum?: readonly string[]
  readonly description?: string
  readonly anyOf?: readonly Property[]
}

interface DocumentSchema {
  readonly properties: Readonly<Record<string, Property>>
  readonly required: readonly string[]
}

const commands: Readonly<Record<string, string>> = {
  call: '`calls`, one a call; `show`, one, with `earlierOfKey`; `demo` of the example app',
  run: '`runs`, one a run',
  explanation: '`why`',
  approval: '`approvals`, one an approval; `approve` and `reject`, the approval after the decision',
  exec: '`exec`',
  doctor: '`doctor`',
  prune: '`prune` and `db prune`',
  archive: '`db archive`',
  'drop-archived': '`db drop-archived`',
  worker: '`worker`, one an event',
  database: '`db status`',
  'error-code': '`explain`, one a code',
}

const { anyOf, oneOf } = jsonSchema() as {
  readonly anyOf?: readonly DocumentSchema[]
  readonly oneOf?: readonly DocumentSchema[]
}
const sections = (anyOf ?? oneOf ?? []).map(({ properties, required }) => {
  const type = properties['type']?.const ?? ''
  const rows = Object.entries(properties)
    .filter(([name]) => name !== 'type')
    .map(([name, property]) => {
      const when = required.includes(name) ? '' : 'may be absent. '
      return `| \`${name}\` | ${typeOf(property)} | ${when}${property.description ?? descriptionOf(property)} |`
    })
  return `## \`${type}\`

Printed by ${commands[type] ?? ''}.

| field | type | meaning |
| --- | --- | --- |
${rows.join('\n')}`
})

console.log(`# What \`--json\` prints

Every command of [\`@smithers/cli\`](../packages/cli) that takes \`--json\` prints JSON Lines on stdout: one document a line, whose \`type\` says which of the following it is. Fields may be added; none is removed or changes its meaning. \`jsonOutput\` of the package is the same as a Zod schema, and \`z.toJSONSchema(jsonOutput)\` as a JSON Schema; a test holds the output of the commands against it, and \`node --conditions=@smithers/source scripts/print-cli-json.ts > docs/command-line-json.md\` writes this page. Errors go to stderr, and the exit code says that there was one.

${sections.join('\n\n')}`)

function typeOf(property: Property): string {
  if (property.anyOf !== undefined) return property.anyOf.map(typeOf).join(' or ')
  if (property.enum !== undefined) return property.enum.map((each) => `\`${each}\``).join(', ')
  return property.type === undefined ? 'any JSON' : [property.type].flat().join(' or ')
}

function descriptionOf({ anyOf: choices = [] }: Property): string {
  return choices.find(({ description }) => description !== undefined)?.description ?? ''
}
