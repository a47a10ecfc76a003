import type { Sandbox, SandboxFiles, SandboxOptions } from '@smithers/sandbox'
import { SmithersError, type TaskContext } from '@smithers/tool-core'
import type { BundleOptions } from './bundle-options.ts'

/** The fields of a call's context that decide which sandbox serves it. */
export type SandboxContext = Pick<TaskContext, 'rootDir' | 'allowNetwork' | 'isolation'>

/** How many roots a bundle keeps open; each holds a descriptor. */
const maxOpen = 64

/** After this time no call can still be using what was forgotten: a command may run for an hour. */
const closeAfterMs = 3_660_000

/** Loaded with the first call: who only imports the tools does not wait for it. */
let loading: Promise<typeof import('@smithers/sandbox')> | undefined

function sandboxPackage(): Promise<typeof import('@smithers/sandbox')> {
  loading ??= import('@smithers/sandbox')
  return loading
}

/** One cache per bundle: settings hold functions (`warn`, a custom policy), which no key could name. */
const caches = new WeakMap<BundleOptions, SandboxCache>()

interface SandboxCache {
  readonly files: Map<string, SandboxFiles>
  readonly sandboxes: Map<string, Promise<Sandbox>>
}

/** The confined files of a call; opened once per root and bundle. Probes no isolation: files need none. */
export async function filesFor(
  context: SandboxContext,
  settings: BundleOptions,
): Promise<SandboxFiles> {
  const { createSandboxFiles } = await sandboxPackage()
  const rootDir = settings.rootDir ?? context.rootDir
  // What commands may read outside the root concerns commands.
  const { read: _read, ...rules } = settings.files ?? {}
  return remember(
    cacheOf(settings).files,
    rootKey(rootDir),
    () => createSandboxFiles({ rootDir, ...rules }),
    (files) => files.close(),
  )
}

/** The sandbox that runs the commands of a call; made once per root, network, isolation and bundle. */
export function sandboxFor(context: SandboxContext, settings: BundleOptions): Promise<Sandbox> {
  const allowNetwork = settings.allowNetwork ?? context.allowNetwork
  return cachedSandbox(context, settings, {
    ...policyOf(settings),
    network: allowNetwork ? 'host' : 'none',
  })
}

/** The sandbox that runs ripgrep: under the same isolation, never with a network, with the program readable. */
export function searchSandboxFor(
  context: SandboxContext,
  settings: BundleOptions,
  program: string,
): Promise<Sandbox> {
  const { files, ...policy } = policyOf(settings)
  return cachedSandbox(context, settings, {
    ...policy,
    files: { ...files, read: [...(files?.read ?? []), program] },
    network: 'none',
    // A pattern may look like a URL. The program is ours and has no network code.
    commands: () => null,
    warn: () => {},
  })
}

function policyOf(settings: BundleOptions): Omit<SandboxOptions, 'rootDir'> {
  const { limits, commands, files, env, warn } = settings
  return { limits, commands, files, env, warn }
}

function cachedSandbox(
  context: SandboxContext,
  settings: BundleOptions,
  options: Omit<SandboxOptions, 'rootDir'>,
): Promise<Sandbox> {
  const rootDir = settings.rootDir ?? context.rootDir
  // The context is typed without the sandbox's words; the sandbox refuses those it does not know.
  const isolation = settings.isolation ?? (context.isolation as SandboxOptions['isolation'])
  const { sandboxes } = cacheOf(settings)
  const key = JSON.stringify([rootKey(rootDir), options.network, options.files?.read, isolation])
  const make = (): Promise<Sandbox> => {
    const sandbox = sandboxPackage().then(({ createSandbox }) =>
      createSandbox({ ...options, rootDir, isolation }),
    )
    // A failure is not remembered: the next call may find the missing program installed.
    sandbox.catch(() => sandboxes.delete(key))
    return sandbox
  }
  return remember(sandboxes, key, make, closeSandbox)
}

function cacheOf(settings: BundleOptions): SandboxCache {
  let cache = caches.get(settings)
  if (cache === undefined) {
    cache = { files: new Map(), sandboxes: new Map() }
    caches.set(settings, cache)
  }
  return cache
}

/**
 * A root that was removed and made again, or a link that now leads elsewhere, is another root.
 *
 * @throws SmithersError `INVALID_INPUT`, which ends the run, when there is no such directory
 */
function rootKey(rootDir: string): string {
  let problem = 'is not a directory'
  let cause: unknown
  try {
    // Not imported: that evaluates every lazy part of the module, and is felt when this package is imported.
    const stats = process.getBuiltinModule('node:fs').statSync(rootDir)
    if (stats.isDirectory()) return `${stats.dev}:${stats.ino}:${rootDir}`
  } catch (error) {
    problem = isMissing(error) ? 'does not exist' : 'cannot be opened'
    cause = error
  }
  // A model reads this: it can do nothing about it, and the path is none of its business.
  throw new SmithersError(
    'INVALID_INPUT',
    `The root directory of the tools ${problem}, so none of them can work. Whoever started this run has to create it, or to pass another rootDir.`,
    { details: { option: 'rootDir' }, cause, effect: 'none', fatal: true },
  )
}

function isMissing(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'ENOENT'
}

/** Looks up or makes, and forgets the one not used for longest when there are too many. */
function remember<Value>(
  entries: Map<string, Value>,
  key: string,
  make: () => Value,
  close: (value: Value) => void | Promise<void>,
): Value {
  const value = entries.get(key) ?? make()
  entries.delete(key)
  entries.set(key, value)
  const [oldest] = entries
  if (entries.size > maxOpen && oldest !== undefined) {
    entries.delete(oldest[0])
    setTimeout(() => void close(oldest[1]), closeAfterMs).unref()
  }
  return value
}

async function closeSandbox(pending: Promise<Sandbox>): Promise<void> {
  const sandbox = await pending.catch(() => undefined)
  sandbox?.close()
}
