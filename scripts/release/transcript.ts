import { cpus, loadavg, release, totalmem } from 'node:os'
import type { Client } from './clients.ts'
import type { InstallLine } from './readme-install.ts'
import type { Outcome } from './run-scenario.ts'

/** A row for each line of the README, a column for each client: seconds from an empty directory to the first success. */
export function timesTable(
  lines: readonly InstallLine[],
  clients: readonly Pick<Client, 'name'>[],
  outcomes: readonly Outcome[],
): string {
  const rows = lines.map(({ purpose }) => {
    const cells = clients.map(({ name }) => {
      const found = outcomes.find((each) => each.purpose === purpose && each.client === name)
      if (found === undefined) return ''
      return found.failure === undefined ? seconds(found.firstSuccessMs) : '**fails**'
    })
    return `| ${[purpose, ...cells].join(' | ')} |`
  })
  return [
    `| for | ${clients.map(({ name }) => name).join(' | ')} |`,
    `|---|${clients.map(() => '---|').join('')}`,
    ...rows,
  ].join('\n')
}

/** The page of a rehearsal: when and where, the times, and what every program printed. */
export function transcriptPage(
  lines: readonly InstallLine[],
  clients: readonly Client[],
  outcomes: readonly Outcome[],
  table: string,
): string {
  const [{ model } = { model: 'unknown processor' }] = cpus()
  const versions = clients.map(({ name, version }) => `${name} ${version}`).join(', ')
  const sections = lines.map(({ purpose }) => {
    const first = outcomes.find((each) => each.purpose === purpose)
    return `### ${purpose}\n\n\`\`\`text\n${(first?.printed ?? []).map((each) => each.trimEnd()).join('\n\n')}\n\`\`\``
  })
  return `# A rehearsed release

\`pnpm release:rehearse --write docs/release-rehearsal.md\` wrote this page on ${new Date().toISOString().slice(0, 10)}.

It versions all packages by their changesets in a copy of the repository, builds them, publishes them to a registry on the loopback interface, and runs every line of the README's section [Install](../README.md#install) in an empty directory, with four package managers whose caches are empty at the beginning. Then it runs the programs of that line and compares what they print.

${cpus().length} × ${model}, ${(totalmem() / 2 ** 30).toFixed(0)} GiB, ${process.platform} ${release()}, Node ${process.versions.node}, ${versions}. The load was ${loadavg()[2]?.toFixed(0)} at the end: compare within the table, since seconds depend on the network and on what else a machine does.

## Seconds from an empty directory to the first success

${table}

The first row of a package manager downloads with an empty cache; later rows find in it what they share. yarn installs without \`node_modules\` (Plug'n'Play), which refuses every import that a package does not declare.

## What the programs printed

With npm; the others printed the same.

${sections.join('\n\n')}
`
}

/** Milliseconds as seconds for people. */
export function seconds(ms: number): string {
  return `${(ms / 1000).toFixed(1)} s`
}
