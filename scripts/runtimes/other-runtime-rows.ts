import { assertExpected } from './expected-output.ts'
import type { Row } from './row.ts'
import type { Workshop } from './workshop.ts'

interface Runtime {
  readonly name: string
  /** As its message to users names it. */
  readonly title: string
  readonly command: readonly [string, ...string[]]
}

const runtimes: readonly Runtime[] = [
  { name: 'bun', title: 'Bun', command: ['bun'] },
  { name: 'deno', title: 'Deno', command: ['deno', 'run', '--allow-all', '--quiet'] },
]

function rowsOf({ name, title, command }: Runtime): Row[] {
  const typed = (program: string): string => [...command, program].join(' ')
  const run = (workshop: Workshop, program: string): Promise<string> =>
    workshop.run({ app: 'plain', command: [...command, program] })
  const what = async (workshop: Workshop): Promise<string> => {
    const printed = await workshop.run({ app: 'plain', command: [command[0], '--version'] })
    return `${title} ${/\d+\.\d+\.\d+/.exec(printed)?.[0] ?? printed}`
  }
  return [
    {
      name: `${name}-without-sandbox`,
      command: typed('without-sandbox.mjs'),
      async check(workshop) {
        await assertExpected(
          workshop,
          'without-sandbox.mjs',
          await run(workshop, 'without-sandbox.mjs'),
        )
        const passed = (await run(workshop, 'conformance.mjs')).trim()
        const result = `own tools, both logs, workflows, adapters and context tools work; ${passed} tests of log-conformance pass`
        return { what: await what(workshop), result }
      },
    },
    {
      name: `${name}-refused`,
      command: typed('refused.mjs'),
      async check(workshop) {
        const printed = (await run(workshop, 'refused.mjs')).trim().split('\n')
        for (const line of printed) {
          if (!line.includes(`RUNTIME_UNSUPPORTED`) || !line.includes(title)) throw new Error(line)
        }
        if (printed.length !== 3) throw new Error(printed.join('\n'))
        const result =
          'sandbox, builtin-tools and orchestrator are refused at import: `RUNTIME_UNSUPPORTED`'
        return { what: await what(workshop), result }
      },
    },
  ]
}

/** Runtimes other than Node: what works there, and what is refused. */
export const otherRuntimeRows: readonly Row[] = runtimes.flatMap(rowsOf)
