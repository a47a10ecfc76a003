import { canonicalDirectory } from './files/guard/file-guard.ts'
import { openRootAt } from './files/open-root.ts'
import type { GitFacts } from './path-rules/judge-change.ts'
import { createSandboxFiles } from './files/create-sandbox-files.ts'
import { resolveProtectedNames } from './files/protected-names.ts'
import type { SandboxFiles } from './files/sandbox-files.ts'
import type { IsolationReport } from './isolation/backend.ts'
import { detectIsolation } from './isolation/detect-isolation.ts'
import { foreignRoot } from './isolation/foreign-root.ts'
import { createPrivateHome, type PrivateHome } from './isolation/private-home.ts'
import { ownCodeInRoot } from './isolation/own-code.ts'
import { resolveLimits } from './options/limits.ts'
import type { CommandCheck } from './command-policy/command-policy.ts'
import { checkAutoPolicy } from './command-policy/auto-policy.ts'
import { checkBasicPolicy } from './command-policy/basic-policy.ts'
import { openEgress } from './process/open-egress.ts'
import { commandEnvironment, type EnvironmentOptions } from './process/environment.ts'
import { offlineEnvironment } from './process/offline-environment.ts'
import { type SharedCaches, sharePackageCaches } from './process/package-caches.ts'
import { type Leftover, sandboxCloser } from './process/close-sandbox.ts'
import { runCommand } from './process/run.ts'
import { RunningCommands } from './process/running-commands.ts'
import { type RunSettings } from './process/run-settings.ts'
import { notEnforcedWarning } from './isolation/not-enforced-warning.ts'
import { explainAction } from './explain-action.ts'
import { readOptions } from './options/read-options.ts'
import type { Sandbox, SandboxOptions } from './sandbox.ts'
import { sandboxOptions } from './sandbox-options.ts'
import { PathProtection } from './path-rules/protection.ts'
import { setAsideDirectory } from './path-rules/set-aside.ts'
import { createGitFacts } from './process/git/git-facts.ts'
import { createGlobalGitConfig, identityVariables } from './process/git/global-git-config.ts'
import { createSession } from './ai-sdk-session/session.ts'
import { SandboxError } from './errors/sandbox-error.ts'

/** Resolves the options of `createSandbox`, finds the backend, and puts the parts together. */
export async function openSandbox(given: SandboxOptions): Promise<Sandbox> {
  const options = readOptions(given, sandboxOptions)
  const canonical = canonicalDirectory(options.rootDir)
  const { network: asked = 'none' } = options
  const network = asked === 'host' ? 'host' : 'none'
  const limits = resolveLimits(options.limits ?? {})
  const filePolicy = options.files ?? {}
  const protect = resolveProtectedNames(filePolicy.protect ?? 'default')
  const { backend, report: isolation } = await detectIsolation({
    isolation: options.isolation ?? 'auto',
    demands: {
      network,
      denies: (filePolicy.deny ?? []).length > 0,
      protects: protect.length > 0,
    },
  })
  const egress = await openEgress(asked, isolation, canonical)
  const check = await resolveCommandCheck(options, isolation)
  const files = openFiles(options)
  try {
    return await assemble(options, files, {
      asked,
      network,
      protect,
      limits,
      isolation,
      backend,
      egress,
      check,
    })
  } catch (error) {
    files.close()
    throw error
  }
}

/** What the options of a sandbox come to on this machine. */
interface Resolved extends Pick<
  RunSettings,
  'network' | 'limits' | 'backend' | 'egress' | 'check'
> {
  readonly asked: NonNullable<SandboxOptions['network']>
  readonly protect: readonly string[]
  readonly isolation: IsolationReport
}

async function assemble(
  options: SandboxOptions,
  files: SandboxFiles,
  { asked, network, protect, limits, isolation, backend, egress, check }: Resolved,
): Promise<Sandbox> {
  const { rootDir } = files
  const filePolicy = options.files ?? {}
  const report = reportOn(files, isolation, { network: asked, protect })
  const surroundings = await openSurroundings(options, {
    isolation,
    rootDir,
    isOffline: egress === null,
  })
  const settings: RunSettings = Object.freeze({
    rootDir,
    files,
    commands: new RunningCommands(),
    backend,
    network,
    egress,
    read: [...(filePolicy.read ?? []), ...surroundings.read],
    write: surroundings.write,
    shown: surroundings.shown,
    home: surroundings.home,
    deny: filePolicy.deny ?? [],
    protection: new PathProtection({
      protect,
      setAsideDirectory: setAsideDirectory(rootDir),
      isRootCurrent: () => files.isCurrent(),
      facts: gitFactsOf(files, () => settings),
    }),
    enforced: Object.freeze({ backend: backend.name, ...isolation.enforced }),
    limitations: isolation.limitations,
    env: surroundings.env,
    limits,
    check,
    warn: notEnforcedWarning(report, options.warn),
  })
  const close = sandboxCloser(settings, surroundings)
  return Object.freeze<Sandbox>({
    rootDir,
    files,
    report,
    run: (command, args = [], runOptions = {}) => runCommand(settings, command, args, runOptions),
    explain: (action) => explainAction(settings, action),
    session: () => createSession(settings),
    close,
    [Symbol.asyncDispose]: close,
  })
}

function gitFactsOf(files: SandboxFiles, settings: () => RunSettings): GitFacts {
  const root = files.openDirectory('.')
  try {
    return createGitFacts(openRootAt(files.rootDir, root.fd), settings)
  } finally {
    root.close()
  }
}

/** What commands find besides the root: their variables and a home. */
async function openSurroundings(
  options: SandboxOptions,
  {
    isolation,
    rootDir,
    isOffline,
  }: { readonly isolation: IsolationReport; readonly rootDir: string; readonly isOffline: boolean },
): Promise<Pick<RunSettings, 'env' | 'home' | 'read' | 'shown' | 'write'> & Leftover> {
  const { network = 'none', gitIdentity = true } = options
  const env = commandEnvironment(withIdentity(options))
  const gitConfig = hidesHome(isolation, env)
    ? createGlobalGitConfig(rootDir, gitIdentity)
    : undefined
  const home = isolation.enforced.files === 'none' ? undefined : createPrivateHome(rootDir, env)
  const isCutOff = isOffline && network !== 'host' && isolation.enforced.network === 'enforced'
  const remove = async (): Promise<void> => {
    await Promise.all([gitConfig?.remove(), home?.remove()])
  }
  const caches = await openCaches(options, { isolation, rootDir, env, home, isCutOff }).catch(
    async (error: unknown) => {
      await remove()
      throw error
    },
  )
  return {
    read: caches.read,
    shown: caches.shown,
    env: Object.freeze({
      ...(isCutOff && offlineEnvironment),
      ...caches.env,
      ...gitConfig?.env,
      ...env,
    }),
    home: home?.directories,
    write: gitConfig === undefined ? [] : [gitConfig.directory],
    remove,
  }
}

/** What package managers of the user have downloaded, for commands that can download nothing. */
async function openCaches(
  { packageCaches = false }: SandboxOptions,
  {
    isolation: { backend },
    rootDir,
    env,
    home,
    isCutOff,
  }: {
    readonly isolation: IsolationReport
    readonly rootDir: string
    readonly env: Readonly<Record<string, string>>
    readonly home: PrivateHome | undefined
    readonly isCutOff: boolean
  },
): Promise<SharedCaches> {
  if (!packageCaches || !isCutOff || home === undefined) return { shown: [], read: [], env: {} }
  const { directories } = home
  const showsElsewhere = backend === 'namespaces' || backend === 'bubblewrap'
  const homePath = showsElsewhere ? (env['HOME'] ?? '/') : directories.whole
  return sharePackageCaches({ rootDir, showsElsewhere, home: directories, homePath })
}

/** The variables by which the caller has chosen an identity for commits. */
function withIdentity({ env = {}, gitIdentity = true }: SandboxOptions): EnvironmentOptions {
  return gitIdentity ? { ...env, pass: [...(env.pass ?? []), ...identityVariables] } : env
}

function openFiles({ rootDir, files = {}, isolation = 'auto' }: SandboxOptions): SandboxFiles {
  return createSandboxFiles({
    // As it was given: absolute paths may be spelled with its links.
    rootDir,
    deny: files.deny ?? [],
    protect: files.protect ?? 'default',
    maxLinks: files.maxLinks ?? 1,
    durability: files.durability ?? 'fsync',
    guard: requiresFiles(isolation) ? 'beneath' : 'auto',
  })
}

/** What isolation enforces, and what it does not in this root. */
function reportOn(
  { rootDir, guard }: SandboxFiles,
  isolation: IsolationReport,
  {
    network,
    protect,
  }: {
    readonly network: NonNullable<SandboxOptions['network']>
    readonly protect: readonly string[]
  },
): Sandbox['report'] {
  const { backend } = isolation
  const ofThisRoot = [
    foreignRoot(rootDir, backend),
    ownCodeInRoot({ rootDir, backend, protect }),
  ].filter((entry) => entry !== null)
  const notEnforced = [...isolation.notEnforced, ...ofThisRoot]
  return Object.freeze({
    ...isolation,
    notEnforced: Object.freeze(notEnforced),
    network: typeof network === 'object' ? 'allow-list' : network,
    guard,
  })
}

/** Whether git's global configuration is out of sight, and the caller has not named another. */
function hidesHome({ enforced }: IsolationReport, env: Readonly<Record<string, string>>): boolean {
  return enforced.files !== 'none' && env['GIT_CONFIG_GLOBAL'] === undefined
}

/** The static check, or `null` where nothing is checked: the network is open, or the system alone closes it. */
async function resolveCommandCheck(
  { commands = 'auto', network = 'none' }: SandboxOptions,
  report: IsolationReport,
): Promise<CommandCheck | null> {
  if (typeof commands === 'function') return commands
  if (network === 'host' || mayReachHosts(network)) return null
  switch (commands) {
    case 'auto':
      return report.enforced.network === 'enforced' ? checkAutoPolicy : checkBasicPolicy
    case 'basic':
      return checkBasicPolicy
    case 'strict':
      // The shell parser is loaded only where it is used.
      return (await import('./command-policy/strict-policy.ts')).checkStrictPolicy
    default:
      if (report.enforced.network === 'enforced') return null
      throw new SandboxError(
        'TOOL_ISOLATION_UNAVAILABLE',
        `commands: 'off' leaves the network to isolation, and backend "${report.backend}" does not enforce it. ` +
          `${report.notEnforced.find(({ what }) => what === 'network')?.fix ?? ''} Or use commands: 'basic'.`,
        { details: { missing: ['network'], backend: report.backend }, effect: 'none' },
      )
  }
}

/** Network programs then have a purpose, and the proxy decides. */
function mayReachHosts(network: SandboxOptions['network']): boolean {
  if (typeof network !== 'object') return false
  return network.allow.length > 0 || network.onDecision !== undefined
}

function requiresFiles(isolation: NonNullable<SandboxOptions['isolation']>): boolean {
  return (
    isolation === 'require' ||
    (typeof isolation === 'object' && isolation.require.includes('files'))
  )
}
