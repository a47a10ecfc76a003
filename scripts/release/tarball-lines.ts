import { copyFileSync, cpSync, globSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Client } from './clients.ts'
import { rehearsedLines } from './readme-install.ts'
import { type Outcome, runScenario } from './run-scenario.ts'
import { scenarios } from './scenarios.ts'
import { inCopy } from './working-copy.ts'

const purpose = 'tarballs of a clone'

/**
 * Follows the README's lines for tarballs, with npm and with pnpm: packs what they name in `copy`, which stands for the
 * clone and is built, and installs and runs the README's example where no registry has our packages.
 */
export async function tarballOutcomes(
  copy: string,
  clients: readonly Client[],
  directory: string,
): Promise<Outcome[]> {
  const [, build = '', install = ''] = rehearsedLines('README.md', 'tarballs')
  const packed = /pnpm tarballs \.\.\/my-agent\/(\S+) (.+)$/.exec(build)
  const installed = /^cd \.\.\/my-agent && npm install (.+)$/.exec(install)?.[1]
  if (packed === null || installed === undefined) {
    throw new Error('README.md: the lines for tarballs are not clone, pnpm tarballs, npm install')
  }
  const [, folder = '', names = ''] = packed
  const example = scenarios.find(({ files }) => 'example.ts' in files)
  const tarballs = join(directory, 'tarballs', folder)
  await inCopy(copy, 'pnpm', 'tarballs', tarballs, ...names.split(' '))
  const outcomes: Outcome[] = []
  for (const client of clients.filter(({ name }) => name === 'npm' || name === 'pnpm')) {
    const project = join(directory, client.name, 'my-agent')
    cpSync(tarballs, join(project, folder), { recursive: true })
    writeFileSync(join(project, 'package.json'), '{ "private": true, "type": "module" }')
    if (client.name === 'pnpm') {
      copyFileSync(
        join(project, folder, 'pnpm-workspace.yaml'),
        join(project, 'pnpm-workspace.yaml'),
      )
    }
    // What the shell makes of the pattern.
    const words = installed
      .split(' ')
      .flatMap((word) =>
        word.includes('*') ? globSync(word, { cwd: project }).map((path) => `./${path}`) : [word],
      )
    if (example === undefined) throw new Error('no scenario has the example of the README')
    const scenario = { ...example, purpose, steps: example.steps.slice(0, 1) }
    outcomes.push(await runScenario(scenario, { purpose, words }, client, project))
  }
  return outcomes
}
