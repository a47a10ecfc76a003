/**
 * Installs each package's tarball alone in an empty project, imports it on every supported Node, and looks at what
 * came along. Prints the table of the root README; `--write` puts it there.
 *
 * Needs `pnpm build` first. A sibling package comes from its own tarball, everything else from the registry.
 */
import {
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
import { join } from 'node:path'
import { execa } from 'execa'
import { medianImportCostMs } from './import-cost.ts'
import { nodeBinary } from './node-binary.ts'
import {
  entriesOf,
  type Manifest,
  packPackages,
  type PackedPackage,
  tarballDependencies,
} from './packed-packages.ts'
import { writeTable } from './write-table.ts'

/** Node majors that the packages support, from the oldest. */
const nodeMajors = [22, 24]
/** Packages that must work with no trace of these. */
const forbidden: Readonly<Record<string, readonly string[]>> = {
  '@smithers/sandbox': ['ai', 'zod', '@smithers/tool-core'],
}

const workspace = mkdtempSync(join(tmpdir(), 'smithers-install-'))
const failures: string[] = []
const rows: string[] = []
try {
  const packed = await packPackages(join(workspace, 'tarballs'))
  const nodes: { readonly major: number; readonly path: string }[] = []
  for (const major of nodeMajors) nodes.push({ major, path: await nodeBinary(major, workspace) })
  for (const { manifest } of packed.values()) {
    const project = await installAlone(manifest, packed)
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
    for (const { major, path } of nodes) await checkBins(manifest, project, major, path)
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
if (process.argv.includes('--write')) writeTable('README.md', 'package table', table)
for (const failure of failures) console.error(failure)
if (failures.length > 0) process.exitCode = 1

/** The command line of a package starts, and finds the packages that its commands need. */
async function checkBins(
  { name }: Manifest,
  project: string,
  major: number,
  node: string,
): Promise<void> {
  if (name !== '@smithers/cli') return
  const program = join(project, 'node_modules/@smithers/cli/dist/smithers.js')
  const link = statSync(join(project, 'node_modules/.bin/smithers'), { throwIfNoEntry: false })
  if (link === undefined || (link.mode & 0o111) === 0) failures.push(`${name} installs no program.`)
  for (const [args, expected] of [
    [['--version'], /^\d+\.\d+\.\d+/],
    [['explain', 'TOOL_TIMEOUT'], /^TOOL_TIMEOUT\n/],
    [['exec', '--', 'echo', 'out'], /^out$/],
    [['calls', '--log', 'none.db'], /There is no log/],
    [
      ['calls', '--log', 'postgres://me:word@127.0.0.1/db'],
      /npm install @smithers\/log-postgres pg/,
    ],
  ] as const) {
    const { all } = await execa(node, [program, ...args], {
      cwd: project,
      reject: false,
      all: true,
    })
    if (!expected.test(all.split('\nsmithers: exit')[0] ?? '')) {
      failures.push(`smithers ${args.join(' ')} on Node ${major} printed: ${all}`)
    }
  }
}

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

async function installAlone(
  manifest: Manifest,
  packed: ReadonlyMap<string, PackedPackage>,
): Promise<string> {
  const project = join(workspace, manifest.name.replace('/', '-'))
  mkdirSync(project, { recursive: true })
  const dependencies = tarballDependencies(project, [manifest.name], packed)
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
