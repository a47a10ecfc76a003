import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { createRequire } from 'node:module'
import { machine, release, type } from 'node:os'
import { promisify } from 'node:util'
import packageJson from '../../package.json' with { type: 'json' }

/** Facts about the machine for a bug report. Null for a program that is not installed. */
export interface MachineVersions {
  readonly smithers: string
  readonly node: string
  /** The operating system's name, version and processor. */
  readonly kernel: string
  readonly bubblewrap: string | null
  readonly ripgrep: string | null
}

/** Finds the versions of the programs used for confinement and search. */
export async function machineVersions(): Promise<MachineVersions> {
  const [bubblewrap, ripgrep] = await Promise.all([
    versionOf(bubblewrapPaths.find((path) => existsSync(path))),
    versionOf(ripgrepPath()),
  ])
  return {
    smithers: packageJson.version,
    node: process.version,
    kernel: `${type()} ${release()} ${machine()}`,
    bubblewrap,
    ripgrep,
  }
}

// The sandbox looks here and not on PATH, where a project could put its own.
const bubblewrapPaths = [
  '/usr/bin/bwrap',
  '/usr/local/bin/bwrap',
  '/bin/bwrap',
  '/run/current-system/sw/bin/bwrap',
]

/** The ripgrep that `grep` runs: the one from its package, or else the one on PATH. */
function ripgrepPath(): string {
  try {
    const requireFromTools = createRequire(import.meta.resolve('@smithers/builtin-tools'))
    return (requireFromTools('@vscode/ripgrep') as { readonly rgPath: string }).rgPath
  } catch {
    return 'rg'
  }
}

async function versionOf(program: string | undefined): Promise<string | null> {
  if (program === undefined) return null
  try {
    const { stdout } = await promisify(execFile)(program, ['--version'], { timeout: 10_000 })
    return /\d+\.[\w.+-]+/.exec(stdout)?.[0] ?? null
  } catch {
    return null
  }
}
