/**
 * Installs each package's tarball alone in an empty project, imports it on every supported Node, and looks at what
 * came along. Prints the table of the root README; `--write` puts it there.
 *
 * Needs `pnpm build` first. A sibling package comes from its own tarball, everything else from the registry.
 */
import {
  cpSync,
  existsSync,
  globSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { execa } from 'execa'
import { medianImportCostMs } from './import-cost.ts'

interface Manifest {
  readonly name: string
  readonly description: string
  readonly exports: Readonly<Record<string, unknown>>
  readonly dependencies?: Readonly<Record<string, string>>
  readonly peerDependencies?: Readonly<Record<string, string>>
  readonly peerDependenciesMeta?: Readonly<Record<string, { readonly optional?: boolean }>>
}

/** Node majors that the packages support, from the oldest. */
const nodeMajors = [22, 24]
/** Packages that must work with no trace of these. */
const forbidden: Readonly<Record<string, readonly string[]>> = {
  '@smithers/sandbox': ['ai', 'zod', '@smithers/tool-core'],
}

/** Entries for users of an optional peer, which an installation alone does not have; and a program, which would run. */
const notImportedAlone = new Set([
  '@smithers/log-conformance/child-process',
  '@smithers/log-conformance/vitest',
  '@smithers/tool-adapters/langchain',
])

const workspace = mkdtempSync(join(tmpdir(), 'smithers-install-'))
const failures: string[] = []
const rows: string[] = []
try {
  const manifests = new Map<string, Manifest>()
  const tarballs = new Map<string, string>()
  for (const path of globSync('packages/*/package.json').toSorted()) {
    const manifest = JSON.parse(readFileSync(path, 'utf8')) as Manifest
    manifests.set(manifest.name, manifest)
    tarballs.set(manifest.name, await pack(path.replace('/package.json', '')))
  }
  const nodes: { readonly major: number; readonly path: string }[] = []
  for (const major of nodeMajors) nodes.push({ major, path: await nodeBinary(major) })
  for (const manifest of manifests.values()) {
    const project = await installAlone(manifest, manifests, tarballs)
    for (const { major, path } of nodes) {
      for (const entry of entriesOf(manifest)) {
        try {
          const program = `await import('${entry}')`
          await execa(path, ['--input-type=module', '-e', program], { cwd: project })
        } catch {
          failures.push(`${entry} does not import on Node ${major}.`)
        }
      }
    }
    await checkPrograms(project)
    const installed = installedPackages(project)
    for (const name of forbidden[manifest.name] ?? []) {
      if (installed.has(name)) failures.push(`${manifest.name} installs ${name}.`)
    }
    rows.push(tableRow(manifest, project, installed))
  }
} finally {
  rmSync(workspace, { recursive: true, force: true })
}

const table = [
  '| package | what it is | installed | packages | import |',
  '|---|---|---|---|---|',
  ...rows,
].join('\n')
console.log(table)
if (process.argv.includes('--write')) writeIntoReadme(table)
for (const failure of failures) console.error(failure)
if (failures.length > 0) process.exitCode = 1

/** Native programs come along executable, and the one of this machine runs. */
async function checkPrograms(project: string): Promise<void> {
  const directory = join(project, 'node_modules/@smithers/sandbox')
  if (!existsSync(directory)) return
  for (const architecture of ['x64', 'arm64']) {
    const program = join(directory, `bin/linux-${architecture}/confine`)
    const status = statSync(program, { throwIfNoEntry: false })
    if (status === undefined) failures.push(`${program} was not installed.`)
    else if ((status.mode & 0o111) !== 0o111) failures.push(`${program} is not executable.`)
    else if (process.platform === 'linux' && process.arch === architecture) {
      const { stdout } = await execa(program, ['probe'], { reject: false })
      if (!/^[0-9a-f]{64}$/.test(stdout)) failures.push(`${program} does not run: "${stdout}".`)
    }
  }
}

async function pack(directory: string): Promise<string> {
  const destination = join(workspace, 'tarballs', basename(directory))
  mkdirSync(destination, { recursive: true })
  await execa('pnpm', ['pack', '--pack-destination', destination], { cwd: directory })
  const [tarball] = globSync(join(destination, '*.tgz'))
  if (tarball === undefined) throw new Error(`pnpm pack left no tarball for ${directory}`)
  return tarball
}

/** What a program may import of a package, by the names that a program uses. */
function entriesOf({ name, exports }: Manifest): string[] {
  return Object.keys(exports)
    .filter((entry) => !entry.endsWith('.json'))
    .map((entry) => name + entry.slice(1))
    .filter((entry) => !notImportedAlone.has(entry))
}

/** The path of a Node of that major version, from its npm package. */
async function nodeBinary(major: number): Promise<string> {
  if (process.versions.node.startsWith(`${major}.`)) return process.execPath
  const script = 'process.stdout.write(process.execPath)'
  const { stdout } = await execa('npx', ['--yes', '-p', `node@${major}`, 'node', '-e', script], {
    cwd: workspace,
    env: outerEnvironment(),
    extendEnv: false,
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  return stdout
}

/** Without what an npx that runs this script told its own child: an inner npx would take it for itself. */
function outerEnvironment(): NodeJS.ProcessEnv {
  const { npm_config_call: _call, npm_config_package: _package, ...rest } = process.env
  return rest
}

async function installAlone(
  manifest: Manifest,
  manifests: ReadonlyMap<string, Manifest>,
  tarballs: ReadonlyMap<string, string>,
): Promise<string> {
  const project = join(workspace, manifest.name.replace('/', '-'))
  mkdirSync(project, { recursive: true })
  const dependencies: Record<string, string> = {}
  for (const name of siblingsOf(manifest, manifests)) {
    const tarball = tarballs.get(name)
    if (tarball === undefined) throw new Error(`no tarball of ${name}`)
    cpSync(tarball, join(project, basename(tarball)))
    dependencies[name] = `file:${basename(tarball)}`
  }
  for (const [name, range] of Object.entries(manifest.peerDependencies ?? {})) {
    if (manifest.peerDependenciesMeta?.[name]?.optional !== true) dependencies[name] = range
  }
  writeFileSync(
    join(project, 'package.json'),
    JSON.stringify({ private: true, type: 'module', dependencies }),
  )
  await execa('npm', ['install', '--no-audit', '--no-fund', '--loglevel=error'], {
    cwd: project,
    stdio: 'inherit',
  })
  return project
}

/** The package itself and every package of this workspace that it depends on. */
function siblingsOf(manifest: Manifest, manifests: ReadonlyMap<string, Manifest>): Set<string> {
  const found = new Set([manifest.name])
  for (const name of Object.keys(manifest.dependencies ?? {})) {
    const sibling = manifests.get(name)
    if (sibling !== undefined) for (const each of siblingsOf(sibling, manifests)) found.add(each)
  }
  return found
}

function installedPackages(project: string): Set<string> {
  const lock = JSON.parse(readFileSync(join(project, 'package-lock.json'), 'utf8')) as {
    packages: Record<string, { optional?: boolean }>
  }
  const present = Object.keys(lock.packages).filter(
    // The lock also lists the binaries of other platforms, which are not on the disk.
    (path) => path !== '' && statSync(join(project, path), { throwIfNoEntry: false }) !== undefined,
  )
  return new Set(present.map((path) => path.replace(/^.*node_modules\//, '')))
}

function tableRow(manifest: Manifest, project: string, installed: ReadonlySet<string>): string {
  const bytes = globSync('node_modules/**', { cwd: project, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .reduce((sum, entry) => sum + statSync(join(entry.parentPath, entry.name)).size, 0)
  const others = installed.size - 1
  const link = `[\`${manifest.name}\`](packages/${manifest.name.split('/')[1]})`
  const importMs = medianImportCostMs(project, manifest.name).toFixed(0)
  return `| ${link} | ${manifest.description} | ${(bytes / 1e6).toFixed(1)} MB | ${others} | ${importMs} ms |`
}

function writeIntoReadme(content: string): void {
  const begin = '<!-- package table: begin -->'
  const end = '<!-- package table: end -->'
  const readme = readFileSync('README.md', 'utf8')
  const [before, rest = ''] = readme.split(begin)
  const after = rest.split(end)[1]
  if (before === undefined || after === undefined)
    throw new Error(`README.md lacks ${begin} … ${end}`)
  writeFileSync('README.md', `${before}${begin}\n\n${content}\n\n${end}${after}`)
}
