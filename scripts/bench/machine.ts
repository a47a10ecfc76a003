import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { cpus, loadavg, release, totalmem } from 'node:os'
import { dirname, join } from 'node:path'

/** What a figure depends on besides the code. */
export interface Machine {
  readonly processor: string
  readonly cores: number
  readonly memoryGb: number
  readonly system: string
  readonly node: string
}

export function describeMachine(): Machine {
  return {
    processor: cpus()[0]?.model.trim().replaceAll(/\s+/gu, ' ') ?? 'unknown',
    cores: cpus().length,
    memoryGb: Math.round(totalmem() / 2 ** 30),
    system: `${process.platform === 'linux' ? 'Linux' : process.platform} ${release()}`,
    node: process.versions.node,
  }
}

/** How many processes wanted a processor in the last minute, on average. */
export function currentLoad(): number {
  return Number((loadavg()[0] ?? 0).toFixed(1))
}

export function machineLine(): string {
  return `${machineText(describeMachine())}, load ${currentLoad()}`
}

export function machineText({ processor, cores, memoryGb, system, node }: Machine): string {
  return `${cores} × ${processor}, ${memoryGb} GB, ${system}, Node ${node}`
}

/**
 * The versions of packages, as the program in `directory` gets them, and of programs on the PATH, which are asked with
 * `--version`. What is not installed is left out.
 */
export function versionsOf(
  directory: string,
  {
    packages,
    programs,
  }: { readonly packages: readonly string[]; readonly programs: readonly string[] },
): Readonly<Record<string, string>> {
  const found = [
    ...packages.map((name) => [name, packageVersion(directory, name)] as const),
    ...programs.map((name) => [name, programVersion(name)] as const),
  ]
  return Object.fromEntries(
    found.flatMap(([name, version]) => (version === undefined ? [] : [[name, version]])),
  )
}

/** Reads the manifest where it lies: few packages export it. */
function packageVersion(directory: string, name: string): string | undefined {
  const folders = createRequire(join(directory, 'x.js')).resolve.paths(name) ?? []
  for (const folder of folders) {
    const manifest = join(folder, name, 'package.json')
    if (!existsSync(manifest)) continue
    const { version } = JSON.parse(readFileSync(manifest, 'utf8')) as { version?: string }
    return version
  }
  return undefined
}

function programVersion(name: string): string | undefined {
  try {
    const said = execFileSync(name, ['--version'], { encoding: 'utf8', stdio: 'pipe' })
    return /\d+(?:\.\d+)+/u.exec(said)?.[0]
  } catch {
    return undefined
  }
}

/** The commit that is measured, and whether files differ from it; undefined outside a git checkout. */
export function currentCommit(): string | undefined {
  const git = (...args: string[]): string =>
    execFileSync('git', args, {
      encoding: 'utf8',
      stdio: 'pipe',
      cwd: dirname(dirname(import.meta.dirname)),
    }).trim()
  try {
    const changed = git('status', '--porcelain', '--', 'packages', 'apps') !== ''
    return `${git('rev-parse', '--short=10', 'HEAD')}${changed ? ' with changes' : ''}`
  } catch {
    return undefined
  }
}
