import { readFileSync } from 'node:fs'
import { typescriptBlock } from './readme-install.ts'

/** A program of a scenario, what it needs beside it, and what it must print. */
export interface Step {
  /** Arguments for Node when `files` has a program, else what follows `npx`. */
  readonly args: readonly string[]
  readonly isProgram: boolean
  readonly expected: string | RegExp
}

/** What a user does first with what one line of the README installs. */
export interface Scenario {
  /** The comment of the README's line. */
  readonly purpose: string
  /** Files of the project, by path. */
  readonly files: Readonly<Record<string, string>>
  readonly steps: readonly Step[]
}

/** A recipe, and the files of `apps/recipes/src` that it imports. */
const recipe = (
  name: string,
  ...imported: readonly string[]
): Pick<Scenario, 'files' | 'steps'> => ({
  files: {
    'program.ts': read(`apps/recipes/src/${name}.ts`),
    ...Object.fromEntries(imported.map((path) => [path, read(`apps/recipes/src/${path}`)])),
  },
  steps: [program(['program.ts'], expectedOf(name))],
})
const agent = 'an agent, as below'
const agentFixtures = 'apps/recipes/test/fixtures/readme-agent'
/** In the order in which they run: the command line reads the log that the agent leaves. */
export const scenarios: readonly Scenario[] = [
  { purpose: 'only the sandbox', ...recipe('only-the-sandbox') },
  { purpose: 'your own tools, in the log of your choice', ...recipe('swap-the-log') },
  { purpose: 'a bundle of your own', ...recipe('own-bundle', 'guides/scripted-model.ts') },
  {
    purpose: agent,
    files: {
      'example.ts': typescriptBlock('README.md', 0),
      'agent.ts': typescriptBlock('README.md', 1),
      // The model of the README's agent is a name; this answers to it without a network.
      'scripted-provider.ts': read(`${agentFixtures}/scripted-provider.ts`),
      'print-calls.ts': read(`${agentFixtures}/print-calls.ts`),
    },
    steps: [
      program(['example.ts'], printedByExample()),
      program(['--import', './scripted-provider.ts', 'agent.ts'], expectedOf('readme-agent')),
      program(['print-calls.ts'], expectedOf('readme-agent-calls')),
    ],
  },
  {
    purpose: 'the command line, without installing it',
    files: {},
    steps: [
      { args: ['doctor'], isProgram: false, expected: doctorReport() },
      {
        args: ['calls', '--log', `../${directoryOf(agent)}/calls.db`],
        isProgram: false,
        expected: /\bwrite\b.*\bok\b.*\bapplied\b[^]*\bbash\b.*\bok\b.*\bapplied\b/,
      },
      {
        args: ['runs', '--log', `../${directoryOf(agent)}/calls.db`],
        isProgram: false,
        // An agent alone leaves calls, and no run of a workflow.
        expected: '',
      },
    ],
  },
]

function expectedOf(name: string): string {
  return read(`apps/recipes/test/expected/${name}.txt`)
}

/** The name of a directory for a scenario. */
export function directoryOf(purpose: string): string {
  return purpose.replaceAll(/\W/g, '-')
}

function program(args: readonly string[], expected: string): Step {
  return { args, isProgram: true, expected }
}

function printedByExample(): string {
  const printed = /It prints:\n\n```\n(.*?\n)```/s.exec(read('README.md'))?.[1]
  if (printed === undefined) throw new Error('README.md does not say what its example prints')
  return printed
}

/** With the version of the checkout's next release, whatever the machine enforces. */
function doctorReport(): RegExp {
  return /^isolation backend: \S+\nproperty +state\n(?:\w+ +[\w-]+\n){4}[^]*\nsmithers +(?!0\.0\.0\b)\d+\.\d+\.\d+\n/
}

function read(path: string): string {
  return readFileSync(path, 'utf8')
}
