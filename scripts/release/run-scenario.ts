import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { Client } from './clients.ts'
import type { InstallLine } from './readme-install.ts'
import type { Scenario, Step } from './scenarios.ts'

/** What came of a scenario with one client. */
export interface Outcome {
  readonly purpose: string
  readonly client: string
  /** From the empty directory to the first program that printed what it must. */
  readonly firstSuccessMs: number
  /** The part of it that the client took to install. */
  readonly installMs: number
  /** What each step printed. */
  readonly printed: readonly string[]
  readonly failure?: string
}

/** Installs what the README's line names into an empty project and runs the scenario's programs there. */
export async function runScenario(
  scenario: Scenario,
  { words }: InstallLine,
  client: Client,
  project: string,
): Promise<Outcome> {
  const startedAt = performance.now()
  const printed: string[] = []
  let installMs = 0
  let firstSuccessMs = 0
  const outcome = (): Omit<Outcome, 'failure'> => ({
    purpose: scenario.purpose,
    client: client.name,
    firstSuccessMs,
    installMs,
    printed,
  })
  try {
    if (scenario.steps.some(({ isProgram }) => isProgram)) {
      await client.add(project, words)
      installMs = performance.now() - startedAt
    }
    for (const [path, text] of Object.entries(scenario.files)) {
      mkdirSync(dirname(join(project, path)), { recursive: true })
      writeFileSync(join(project, path), text)
    }
    for (const step of scenario.steps) {
      printed.push(await runStep(step, words, client, project))
      if (firstSuccessMs === 0) firstSuccessMs = performance.now() - startedAt
    }
    return outcome()
  } catch (error) {
    return { ...outcome(), failure: error instanceof Error ? error.message : String(error) }
  }
}

async function runStep(
  { args, isProgram, expected }: Step,
  words: readonly string[],
  client: Client,
  project: string,
): Promise<string> {
  const printed = isProgram
    ? await client.run(project, args)
    : // The README's line is `npx PACKAGE COMMAND`; other commands of the same program follow.
      await client.execute(project, [...words.slice(0, 1), ...args])
  const isExpected =
    typeof expected === 'string' ? printed.trim() === expected.trim() : expected.test(printed)
  if (isExpected) return printed
  const wanted = typeof expected === 'string' ? expected : `something like ${String(expected)}`
  throw new Error(`${args.join(' ')} printed\n${printed}\nand should have printed\n${wanted}`)
}
