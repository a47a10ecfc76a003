import { existsSync, realpathSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { isWithin } from '../path-rules/path-order.ts'
import type { IsolationBackendName, NotEnforced } from './backend.ts'

/** These mount protected names read-only; the others compare them afterwards. */
const mounting: ReadonlySet<IsolationBackendName> = new Set(['namespaces', 'bubblewrap'])

/** What {@link ownCodeInRoot} decides from. */
export interface OwnCodeOptions {
  /** Canonical. */
  readonly rootDir: string
  readonly backend: IsolationBackendName
  /** Names from the root. */
  readonly protect: readonly string[]
  /** Where this package lies. @default found by the address of its code */
  readonly packageDir?: string
}

/**
 * Says so when commands can change this package's code, which the next process of the user runs unconfined: the package
 * lies in the root, as in most projects that install it. `null` when they cannot, or where nothing is confined anyway.
 */
export function ownCodeInRoot(options: OwnCodeOptions): NotEnforced | null {
  const { rootDir, backend, protect, packageDir = ownDirectory() } = options
  if (backend === 'none') return null
  const installed = join(rootDir, 'node_modules/@smithers')
  const places = [
    ...(isWithin(packageDir, rootDir) ? [packageDir] : []),
    // A link to the package is enough: a command can exchange it.
    ...(existsSync(installed) ? [installed] : []),
  ].map((path) => relative(rootDir, path))
  const open = mounting.has(backend)
    ? places.filter((path) => !protect.some((name) => isWithin(path, name)))
    : places
  if (open.length === 0) return null
  const names = open.map((name) => (name === '' ? 'the root itself' : JSON.stringify(name)))
  const protecting = mounting.has(backend) ? '' : ' and allow user namespaces or install bubblewrap'
  return {
    what: 'files',
    code: 'OWN_CODE_IN_ROOT',
    why: `The code of @smithers lies in the root (${names.join(', ')}): a command can change what the next process runs.`,
    fix: `Install the packages outside the root. Or name their directory in files.protect${protecting}: it is mounted read-only then, and package managers cannot replace it either.`,
  }
}

/** The nearest directory above this code that is a package; a bundle belongs to the package that it was made for. */
function ownDirectory(): string {
  const start = dirname(ownFile())
  for (let directory = start; directory !== dirname(directory); directory = dirname(directory)) {
    if (existsSync(join(directory, 'package.json'))) return directory
  }
  return start
}

function ownFile(): string {
  try {
    return realpathSync(fileURLToPath(import.meta.url))
  } catch {
    // A bundler has taken the address away, or left that of a source on the machine of the build.
    return realpathSync(process.argv[1] ?? '.')
  }
}
