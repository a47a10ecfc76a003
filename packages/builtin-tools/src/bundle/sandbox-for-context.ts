import type { EnvironmentOptions, Sandbox, SandboxFiles, SandboxOptions } from '@smithers/sandbox'
import type { TaskContext } from '@smithers/tool-core'
import { atRoot, boundRoot, type RootOwner } from './bound-root.ts'
import type { BundleOptions } from './bundle-options.ts'
import {
  type NetworkContext,
  networkKey,
  type NetworkOfCall,
  networkOfCall,
} from './network-of-call.ts'
import { refuseForgeableLog } from './log-beneath-root.ts'
import { withProtectedPaths } from './protected-files.ts'
import { refuseClosed } from './bundle-lifetime.ts'
import { runInUse } from './run-in-use.ts'
import { SharedByCalls, type SharedUse } from './shared-by-calls.ts'

/** The fields of a call's context that select its sandbox. */
export type SandboxContext = Pick<TaskContext, 'rootDir' | 'isolation'> &
  NetworkContext &
  Partial<Pick<TaskContext, 'protectedPaths' | 'log'>> &
  RootOwner

/** Roots of all bundles together that stay open for the next call, for files and for commands each. */
const maxOpen = 32

/** Between two tasks of a workflow, milliseconds: commands of the second one find the caches of the first. */
const idleMs = 60_000

const openFiles = new SharedByCalls<SandboxFiles>({
  most: maxOpen,
  idleMs,
  close: (files) => files.close(),
})
const openSandboxes = new SharedByCalls<Promise<Sandbox>>({
  most: maxOpen,
  idleMs,
  close: (pending) =>
    pending.then(
      (sandbox) => sandbox.close(),
      () => {},
    ),
})

/** Closes all that is open for a bundle, and waits until its calls have ended. */
export async function closeRootsOf(bundle: BundleOptions): Promise<void> {
  const owner = identityOf(bundle)
  await Promise.all([openFiles.closeOf(owner), openSandboxes.closeOf(owner)])
}

/** Closes what a bundle has open that was never closed and can be reached no more. */
const forgotten = new FinalizationRegistry<BundleIdentity>((owner) => {
  void openFiles.closeOf(owner)
  void openSandboxes.closeOf(owner)
})

/** Loaded with the first call, to keep importing the package fast. */
let loading: Promise<typeof import('@smithers/sandbox')> | undefined

function sandboxPackage(): Promise<typeof import('@smithers/sandbox')> {
  loading ??= import('@smithers/sandbox')
  return loading
}

/**
 * Lets a call work with the confined files of its root, opened once per root and bundle. Does not probe isolation, which
 * files do not need.
 *
 * @throws SmithersError as {@link boundRoot}
 */
export async function withFiles<Result>(
  context: SandboxContext,
  bundle: BundleOptions,
  work: (files: SandboxFiles) => Promise<Result>,
): Promise<Result> {
  const { createSandboxFiles } = await sandboxPackage()
  refuseClosed(bundle)
  const rootDir = bundle.rootDir ?? context.rootDir
  const identity = boundRoot(rootDir, context)
  const open = (): SandboxFiles => {
    // `read` applies to commands only.
    const { read: _read, ...rules } = withProtectedPaths(bundle.files, rootDir, context) ?? {}
    return atRoot(createSandboxFiles({ rootDir, ...rules }), identity)
  }
  const key = keyOf(bundle, rootDir, identity, context)
  return openFiles.use({ key, open, ...usedBy(bundle, context) }, work)
}

/**
 * Lets a call work with the sandbox of its commands, created once per root, network, isolation and bundle.
 *
 * @throws SmithersError as {@link boundRoot} and {@link refuseForgeableLog}
 */
export function withSandbox<Result>(
  context: SandboxContext,
  bundle: BundleOptions,
  work: (sandbox: Sandbox) => Promise<Result>,
): Promise<Result> {
  const { network } = networkOfCall(context, bundle)
  const options = { ...policyOf(bundle), network }
  return inSandbox(context, bundle, options, (sandbox) => {
    refuseForgeableLog(sandbox, {
      rootDir: bundle.rootDir ?? context.rootDir,
      log: context.log,
      isolation: isolationOf(context, bundle),
      warn: bundle.warn,
    })
    return work(sandbox)
  })
}

/** As {@link withSandbox}, for ripgrep: same isolation, no network, with the program readable. */
export function withSearchSandbox<Result>(
  context: SandboxContext,
  bundle: BundleOptions,
  program: string,
  work: (sandbox: Sandbox) => Promise<Result>,
): Promise<Result> {
  const { files, ...policy } = policyOf(bundle)
  const options = {
    ...policy,
    packageCaches: false,
    files: { ...files, read: [...(files?.read ?? []), program] },
    network: 'none',
    // A pattern may look like a URL, and ripgrep has no network code.
    commands: () => null,
    warn: () => {},
  } as const
  return inSandbox(context, bundle, options, work)
}

function policyOf(bundle: BundleOptions): Omit<SandboxOptions, 'rootDir'> {
  const { limits, commands, files, gitIdentity, packageCaches, warn } = bundle
  return { limits, commands, files, env: plainOutput(bundle.env), gitIdentity, packageCaches, warn }
}

/** Programs print for a reader without a terminal, unless the bundle says otherwise. */
function plainOutput({ pass = [], set = {} }: EnvironmentOptions = {}): EnvironmentOptions {
  const plain: Record<string, string> = { PAGER: 'cat', GIT_PAGER: 'cat' }
  const asksForColours = pass.includes('FORCE_COLOR') || 'FORCE_COLOR' in set
  if (!asksForColours) plain['NO_COLOR'] = '1'
  const unsaid = Object.entries(plain).filter(([name]) => !pass.includes(name))
  return { pass, set: { ...Object.fromEntries(unsaid), ...set } }
}

function isolationOf(context: SandboxContext, bundle: BundleOptions): SandboxOptions['isolation'] {
  // The context's type does not list the sandbox's values; the sandbox refuses unknown ones.
  return bundle.isolation ?? (context.isolation as SandboxOptions['isolation'])
}

async function inSandbox<Result>(
  context: SandboxContext,
  bundle: BundleOptions,
  options: Omit<SandboxOptions, 'rootDir' | 'network'> & Pick<NetworkOfCall, 'network'>,
  work: (sandbox: Sandbox) => Promise<Result>,
): Promise<Result> {
  refuseClosed(bundle)
  const rootDir = bundle.rootDir ?? context.rootDir
  const identity = boundRoot(rootDir, context)
  const isolation = isolationOf(context, bundle)
  const choice = [networkKey(options.network), options.files?.read, isolation]
  const key = `${keyOf(bundle, rootDir, identity, context)}\n${JSON.stringify(choice)}`
  const open = (): Promise<Sandbox> => {
    const sandbox = sandboxPackage().then(async ({ createSandbox }) => {
      const files = withProtectedPaths(options.files, rootDir, context)
      return atRoot(await createSandbox({ ...options, files, rootDir, isolation }), identity)
    })
    // Do not keep a failure: the missing program may be installed before the next call.
    sandbox.catch(() => openSandboxes.forget(key, sandbox))
    return sandbox
  }
  return openSandboxes.use({ key, open, ...usedBy(bundle, context) }, async (sandbox) =>
    work(await sandbox),
  )
}

function usedBy(
  bundle: BundleOptions,
  { ephemeral = true }: SandboxContext,
): Pick<SharedUse<unknown>, 'owner' | 'isOutsideRun' | 'run'> {
  return { owner: identityOf(bundle), isOutsideRun: ephemeral, run: runInUse() }
}

/** Names a bundle in keys, whose options may contain functions (`warn`, a custom policy), and does not keep it. */
interface BundleIdentity {
  readonly number: number
}

const identities = new WeakMap<BundleOptions, BundleIdentity>()
let bundles = 0

function identityOf(bundle: BundleOptions): BundleIdentity {
  let identity = identities.get(bundle)
  if (identity === undefined) {
    identity = { number: (bundles += 1) }
    identities.set(bundle, identity)
    forgotten.register(bundle, identity)
  }
  return identity
}

function keyOf(
  bundle: BundleOptions,
  rootDir: string,
  identity: string,
  { protectedPaths = [], log }: SandboxContext,
): string {
  const { number } = identityOf(bundle)
  return [number, identity, rootDir, ...protectedPaths, '', ...(log?.files ?? [])].join('\n')
}
