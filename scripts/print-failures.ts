/**
 * Prints docs/failures.md: calls of the built-in tools that fail, and what the model reads. `pnpm docs:failures` makes the
 * calls under the backend `namespaces` and writes the page.
 */
import { runFailures } from '../packages/builtin-tools/test/fixtures/failures.ts'

const maxInput = 90
const maxMessage = 420

const failures = await runFailures()
const rows = failures.map(({ tool, input, code, message }) => {
  const cells = [
    tool,
    shortened(JSON.stringify(input), maxInput),
    code,
    shortened(message, maxMessage),
  ]
  const [name = '', given = '', ofError = '', text = ''] = cells.map(inTable)
  return `| ${name} | \`${given}\` | \`${ofError}\` | ${text} |`
})

console.log(`# What a model reads of a failure

Each row is a real call in a workspace with a few files, a pipe, links that lead out and a git repository, with \`createBuiltinTools\` and \`createCommandTools\`, a limit of 20 000 bytes and 5 seconds, and without a network. \`pnpm docs:failures\` makes the calls and writes this page; [the test](../packages/builtin-tools/test/failures.test.ts) checks for each that the message says what the model can do next, and nothing that only a developer could do. ⏎ is a line break; of long texts, the middle is left out here.

| tool | call | code | what the model reads |
| --- | --- | --- | --- |
${rows.join('\n')}

${failures.length} failures.`)
process.exit(0)

function shortened(text: string, length: number): string {
  if (text.length <= length) return text
  const end = Math.round(length / 3)
  return `${text.slice(0, length - end)} … ${text.slice(-end)}`
}

function inTable(text: string): string {
  return text
    .replaceAll('|', '\\|')
    .replaceAll('\n', ' ⏎ ')
    .replaceAll('<', '&lt;')
    .replaceAll('*', '\\*')
    .trim()
}
