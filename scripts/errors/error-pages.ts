import type { ErrorEntry } from '../../packages/cli/src/errors/error-codes.ts'
import type { RecordedFailure } from './recorded-failures.ts'
import type { ThrownMessage } from './thrown-messages.ts'

/** What the page of the error codes is made of. */
export interface ErrorSources {
  readonly codes: Readonly<Record<string, ErrorEntry>>
  readonly failures: readonly RecordedFailure[]
  readonly thrown: readonly ThrownMessage[]
}

const mostExamples = 4

// Their messages are put together from the record of another call.
const computed: Readonly<Record<string, string>> = {
  TOOL_CALL_BLOCKED:
    '… Tool "…" was not run. This call was already made. It started at … and …. Its recorded output: …. Check the outside state. If the call must run, its key has to be allowed first: ….',
  TOOL_APPROVAL_DECIDED:
    'Approval … of tool "…" was already rejected by … at …. A decision is final.',
  TOOL_GLOB_FAILED: 'ripgrep was ended by SIGKILL.',
}

/** The text of docs/errors.md. @throws Error for a code without an example */
export function errorPage({ codes, failures, thrown }: ErrorSources): string {
  const sections = Object.entries(codes).map(([code, { meaning, advice }]) => {
    const from = new Set(thrown.filter((one) => one.code === code).map((one) => one.from))
    return [
      `## ${code}`,
      `**When.** ${meaning}`,
      `**What to do.** ${advice}`,
      ...examplesOf(code, failures, thrown),
      ...(from.size === 0
        ? []
        : [`Thrown by ${[...from].map((name) => `\`${name}\``).join(', ')}.`]),
    ].join('\n\n')
  })
  return `${introduction(sections.length)}\n\n${sections.join('\n\n')}\n`
}

function introduction(count: number): string {
  return `# Error codes

Every error of these packages has a \`code\` that stays the same between versions, a \`message\` that a model reads, and \`details\` for a program. There are ${count} codes. \`smithers explain CODE\` prints the same in a terminal. \`pnpm docs:errors\` writes this page from the table of the command line, the calls in [failures](failures.md) and the messages in the code, where … stands for a value.`
}

function examplesOf(
  code: string,
  failures: readonly RecordedFailure[],
  thrown: readonly ThrownMessage[],
): readonly string[] {
  const real = failures.filter((failure) => failure.code === code).slice(0, mostExamples)
  if (real.length > 0) {
    return [
      'Calls that end with it, and what the model reads:',
      ...real.map(
        ({ tool, input, message }) => `- \`${tool}\` with \`${input}\`\n\n${fenced(message, '  ')}`,
      ),
    ]
  }
  const written = [
    ...thrown.filter((one) => one.code === code).map(({ message }) => message),
    ...(computed[code] === undefined ? [] : [computed[code]]),
  ]
  // The longest say the most.
  const shown = [...new Set(written)].toSorted((a, b) => b.length - a.length).slice(0, mostExamples)
  if (shown.length === 0) throw new Error(`${code} has no message to show.`)
  return [
    shown.length === 1 ? 'The message:' : 'Messages:',
    ...shown.map((message) => fenced(message)),
  ]
}

function fenced(text: string, indent = ''): string {
  return ['```text', ...text.split('\n'), '```'].map((line) => `${indent}${line}`).join('\n')
}
