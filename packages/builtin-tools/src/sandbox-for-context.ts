import type { Sandbox, SandboxFiles, SandboxOptions } from '@smithers/sandbox'
import { SmithersError, type TaskContext } from '@smithers/tool-core'
import type { BundleOptions } from './bundle-options.ts'
import { withProtectedPaths } from './protected-files.ts'

/** The fields of a call's context that select its sandbox. */
export type SandboxContext = Pick<TaskContext, 'rootDir' | 'allowNetwork' | 'isolation'> &
  Partial<Pick<TaskContext, 'protectedPaths' | 'log'>>

/** Roots that a bundle keeps open; each needs a descriptor. */
const maxOpen = 64

/** After this time no call can still be using what was forgotten: a command may run for an hour. */
const closeAfterMs = 3_660_000

/** Loaded with the first call, to keep importing the package fast. */
let loading: Promise<typeof import('@smithers/sandbox')> | undefined

function sandboxPackage(): Promise<typeof import('@smithers/sandbox')> {
  loading ??= import('@smithers/sandbox')
  return loading
}

/** One cache per bundle, since its options may contain functions (`warn`, a custom policy), which a key cannot name. */
const caches = new WeakMap<BundleOptions, SandboxCache>()

interface SandboxCache {
  readonly files: Map<string, SandboxFiles>
  readonly sandboxes: Map<string, Promise<Sandbox>>
}

/** The confined files of a call, opened once per root and bundle. Does not probe isolation, which files do not need. */
export async function filesFor(
  context: SandboxContext,
  bundle: BundleOptions,
): Promise<SandboxFiles> {
  const { createSandboxFiles } = await sandboxPackage()
  const rootDir = bundle.rootDir ?? context.rootDir
  // `read` applies to commands only.
  const { read: _read, ...rules } = withProtectedPaths(bundle.files, rootDir, context) ?? {}
  return remember(
    cacheOf(bundle).files,
    rootKey(rootDir, context),
    () => createSandboxFiles({ rootDir, ...rules }),
    (files) => files.close(),
  )
}

/** The sandbox for the commands of a call, created once per root, network, isolation and bundle. */
export function sandboxFor(context: SandboxContext, bundle: BundleOptions): Promise<Sandbox> {
  const allowNetwork = bundle.allowNetwork ?? context.allowNetwork
  return cachedSandbox(context, bundle, {
    ...policyOf(bundle),
    network: allowNetwork ? 'host' : 'none',
  })
}

/** The sandbox for ripgrep: same isolation, no network, with the program readable. */
export function searchSandboxFor(
  context: SandboxContext,
  bundle: BundleOptions,
  program: string,
): Promise<Sandbox> {
  const { files, ...policy } = policyOf(bundle)
  return cachedSandbox(context, bundle, {
    ...policy,
    files: { ...files, read: [...(files?.read ?? []), program] },
    network: 'none',
    // A pattern may look like a URL, and ripgrep has no network code.
    commands: () => null,
    warn: () => {},
  })
}

function policyOf(bundle: BundleOptions): Omit<SandboxOptions, 'rootDir'> {
  const { limits, commands, files, env, warn } = bundle
  return { limits, commands, files, env, warn }
}

function cachedSandbox(
  context: SandboxContext,
  bundle: BundleOptions,
  options: Omit<SandboxOptions, 'rootDir'>,
): Promise<Sandbox> {
  const rootDir = bundle.rootDir ?? context.rootDir
  // The context's type does not list the sandbox's values; the sandbox refuses unknown ones.
  const isolation = bundle.isolation ?? (context.isolation as SandboxOptions['isolation'])
  const { sandboxes } = cacheOf(bundle)
  const key = JSON.stringify([
    rootKey(rootDir, context),
    options.network,
    options.files?.read,
    isolation,
  ])
  const make = (): Promise<Sandbox> => {
    const sandbox = sandboxPackage().then(({ createSandbox }) =>
      createSandbox({
        ...options,
        files: withProtectedPaths(options.files, rootDir, context),
        rootDir,
        isolation,
      }),
    )
    // Do not cache a failure: the missing program may be installed before the next call.
    sandbox.catch(() => sandboxes.delete(key))
    return sandbox
  }
  return remember(sandboxes, key, make, closeSandbox)
}

function cacheOf(bundle: BundleOptions): SandboxCache {
  let cache = caches.get(bundle)
  if (cache === undefined) {
    cache = { files: new Map(), sandboxes: new Map() }
    caches.set(bundle, cache)
  }
  return cache
}

/**
 * A key that changes when the root is replaced by another directory or link target.
 *
 * @throws SmithersError `INVALID_INPUT`, which ends the run, when the directory does not exist
 */
function rootKey(rootDir: string, { protectedPaths = [], log }: SandboxContext): string {
  let problem = 'is not a directory'
  let cause: unknown
  try {
    // Not imported statically: that would evaluate every lazy part of node:fs at import time.
    const stats = process.getBuiltinModule('node:fs').statSync(rootDir)
    if (stats.isDirectory()) {
      const files = log?.files ?? []
      return [`${stats.dev}:${stats.ino}:${rootDir}`, ...protectedPaths, '', ...files].join('\n')
    }
  } catch (error) {
    problem = isMissing(error) ? 'does not exist' : 'cannot be opened'
    cause = error
  }
  // The model reads this and cannot repair it, so the message omits the path.
  throw new SmithersError(
    'INVALID_INPUT',
    `The root directory of the tools ${problem}, so none of them can work. The program that started this run must create it or pass another rootDir.`,
    { details: { option: 'rootDir' }, cause, effect: 'none', fatal: true },
  )
}

function isMissing(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'ENOENT'
}

/** Returns the cached value or creates it; evicts the least recently used value when there are too many. */
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
