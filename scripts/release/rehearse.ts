/**
 * Rehearses a release: `pnpm release:rehearse`. Versions, builds and publishes all packages to a registry of this
 * machine, from a copy of the repository, and does what the README's section "Install" says, with four package managers,
 * in empty directories. Compares what the programs print and measures the time to the first success.
 *
 * `--built` takes the builds of this checkout. `--write PATH` writes the page that docs/release-rehearsal.md is. Names of
 * package managers select: `pnpm release:rehearse npm bun`.
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { execa } from 'execa'
import { type Client, emptyProject, installClients } from './clients.ts'
import { LocalRegistry } from './local-registry.ts'
import { outerEnvironment } from './outer-environment.ts'
import { packageLineFaults } from './package-lines.ts'
import { publishAll } from './publish-all.ts'
import { installLines } from './readme-install.ts'
import { type Outcome, runScenario } from './run-scenario.ts'
import { directoryOf, scenarios } from './scenarios.ts'
import { tarballOutcomes } from './tarball-lines.ts'
import { seconds, timesTable, transcriptPage } from './transcript.ts'
import { copyCheckout } from './working-copy.ts'

const { isBuilt, page, selected } = readArguments(process.argv.slice(2))
const lines = installLines('README.md')
checkLines()

const directory = mkdtempSync(join(tmpdir(), 'smithers-rehearsal-'))
const copy = join(directory, 'copy')
// Also when the rehearsal is interrupted; execa ends the registry with this process.
process.once('exit', () => rmSync(directory, { recursive: true, force: true, maxRetries: 5 }))
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(1))
let registry: LocalRegistry | undefined
let failed = 0
try {
  const [installed] = await Promise.all([
    timed('package managers', () => installClients(directory)),
    timed('registry', () => LocalRegistry.install(join(directory, 'registry'))),
    timed('copy of the repository', () => copyCheckout(copy)),
  ])
  const running = await LocalRegistry.start(join(directory, 'registry'))
  registry = running
  const storage = join(directory, 'registry/storage')
  const count = await timed('release', () => publishAll(copy, running, storage, isBuilt))
  console.log(`${count} packages published`)

  const clients = installed.filter(({ name }) => selected.length === 0 || selected.includes(name))
  const outcomes: Outcome[] = []
  for (const client of clients) outcomes.push(...(await rehearse(client, running)))
  const pnpm = clients.find(({ name }) => name === 'pnpm')
  if (pnpm !== undefined) {
    const usual = await usualRegistry()
    const faults = await timed('first lines of package READMEs', () =>
      packageLineFaults(pnpm, running, usual, directory),
    )
    for (const fault of faults) console.error(fault)
    failed += faults.length
  }
  outcomes.push(...(await timed('tarballs', () => tarballOutcomes(copy, clients, directory))))
  await report(clients, outcomes)
} finally {
  await registry?.close()
}
if (failed > 0) process.exitCode = 1

/** All lines of the README with one package manager, one after the other. */
async function rehearse(client: Client, running: LocalRegistry): Promise<Outcome[]> {
  const outcomes: Outcome[] = []
  const usual = await usualRegistry()
  for (const scenario of scenarios) {
    const line = lines.find(({ purpose }) => purpose === scenario.purpose)
    if (line === undefined) continue
    const project = join(directory, client.name, directoryOf(scenario.purpose))
    emptyProject(project, running, usual)
    const outcome = await runScenario(scenario, line, client, project)
    show(outcome)
    outcomes.push(outcome)
  }
  return outcomes
}

/** The registry that this machine is set up to use. */
async function usualRegistry(): Promise<string> {
  const { stdout } = await execa('npm', ['config', 'get', 'registry'], {
    cwd: directory,
    env: outerEnvironment(),
    extendEnv: false,
    stderr: 'ignore',
  })
  return stdout.trim()
}

async function report(clients: readonly Client[], outcomes: readonly Outcome[]): Promise<void> {
  const purposes = [...new Set(outcomes.map(({ purpose }) => purpose))]
  const rows = purposes.map((purpose) => ({ purpose, words: [] }))
  const table = timesTable(rows, clients, outcomes)
  console.log(`\n${table}`)
  failed += outcomes.filter(({ failure }) => failure !== undefined).length
  if (page === undefined || failed > 0) return
  writeFileSync(page, transcriptPage(rows, clients, outcomes, table))
  await execa('oxfmt', [page])
}

function show({ purpose, client, installMs, firstSuccessMs, failure }: Outcome): void {
  const what = `${client}: ${purpose}`
  if (failure === undefined) {
    const part = installMs > 0 ? `, ${seconds(installMs)} of it to install` : ''
    console.log(`${what}: ${seconds(firstSuccessMs)}${part}`)
  } else console.error(`${what}: FAILED\n${failure}`)
}

/** Every line of the README has a scenario, and every scenario a line. */
function checkLines(): void {
  const inReadme = lines.map(({ purpose }) => purpose).toSorted()
  const inScenarios = scenarios.map(({ purpose }) => purpose).toSorted()
  if (inReadme.join() !== inScenarios.join()) {
    throw new Error(
      `README.md installs for ${inReadme.join('; ')}, and scenarios.ts has ${inScenarios.join('; ')}`,
    )
  }
}

async function timed<T>(what: string, work: () => Promise<T>): Promise<T> {
  const startedAt = performance.now()
  const result = await work()
  console.log(`${what}: ${seconds(performance.now() - startedAt)}`)
  return result
}

function readArguments(words: readonly string[]): {
  readonly isBuilt: boolean
  readonly page: string | undefined
  readonly selected: readonly string[]
} {
  const at = words.indexOf('--write')
  const found = at === -1 ? undefined : words[at + 1]
  if (at !== -1 && found === undefined) throw new Error('--write needs the path of a page')
  const rest = words.filter((_, index) => at === -1 || (index !== at && index !== at + 1))
  const named = rest.filter((word) => word !== '--built')
  const unknown = named.filter((word) => !['npm', 'pnpm', 'yarn', 'bun'].includes(word))
  if (unknown.length > 0) throw new Error(`unknown: ${unknown.join(', ')}; npm, pnpm, yarn, bun`)
  if (found !== undefined && named.length > 0)
    throw new Error('--write needs every package manager')
  return { isBuilt: rest.includes('--built'), page: found, selected: named }
}
