import { existsSync } from 'node:fs'
import { createRequire } from 'node:module'
import { machine, release, type } from 'node:os'
import { execa } from 'execa'
import packageJson from '../../package.json' with { type: 'json' }

/** What a report of a problem needs to say of the machine. Null for a program that is not there. */
export interface MachineVersions {
  readonly smithers: string
  readonly node: string
  /** The operating system's name, version and processor. */
  readonly kernel: string
  readonly bubblewrap: string | null
  readonly ripgrep: string | null
}

/** Asks the programs that confinement and search are built on for their versions. */
export async function machineVersions(): Promise<MachineVersions> {
  const [bubblewrap, ripgrep] = await Promise.all([
    versionOf(bubblewrapPlaces.find((path) => existsSync(path))),
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

// Where the sandbox looks: not on PATH, where a project may put its own.
const bubblewrapPlaces = [
  '/usr/bin/bwrap',
  '/usr/local/bin/bwrap',
  '/bin/bwrap',
  '/run/current-system/sw/bin/bwrap',
]

/** The ripgrep that `grep` runs: that of its package, else the one on PATH. */
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
    const { stdout } = await execa(program, ['--version'], { timeout: 10_000 })
    return /\d+\.[\w.+-]+/.exec(stdout)?.[0] ?? null
  } catch {
    return null
  }
}
