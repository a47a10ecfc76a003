import { existsSync, fstatSync } from 'node:fs'
import { isWithin } from '../../path-rules/path-order.ts'
import type { BackendConditions, IsolationBackend, PolicyDemands } from '../backend.ts'
import { absoluteDirectory } from '../bubblewrap/command-directories.ts'
import type { FilterArchitecture } from '../bubblewrap/seccomp-table.ts'
import { knownSystemMounts } from '../bubblewrap/system-mounts.ts'
import type { RunningCommand, StartRequest } from '../running-command.ts'
import { encodePolicy, type PolicyFrame } from './frames.ts'
import { helperNow, prepareHelper, requireHelper } from './helper.ts'
import { HelperProcess } from './helper-process.ts'
import { landlockConditions } from './landlock-conditions.ts'
import { landlockFilter } from './landlock-filter.ts'
import { probeLandlock } from './landlock-probe.ts'
import { handledRights, keyOfFiles, landlockRules, newestVersion } from './landlock-rules.ts'
import { anyFile } from './mount-step.ts'
import { PrivateDirectories, type PrivateDirectory } from './private-directories.ts'
import { startByHelper } from './start-by-helper.ts'
import { visibleTools } from '../bubblewrap/visible-tools.ts'

/** What tests may change. */
export interface LandlockOptions {
  /** Use no more of Landlock than this version has, as an older kernel would. */
  readonly versionCeiling?: number
  /** Leave calls without a judge, as where another filter has taken the notifications. */
  readonly vets?: boolean
}

/**
 * Returns the backend that confines commands by Landlock and a system-call filter (Linux 5.13 and newer). It needs
 * nothing installed and no namespaces, so it works in default containers.
 *
 * Guarantees, for root and for ordinary users alike: a command can change the root and private temporary directories, and
 * nothing else, metadata included; it can read the contents of those, of the system's programs, of tools on PATH and of
 * what the policy names; with `network: 'none'` no packet and no connection leaves; it cannot signal, trace or limit
 * processes that it did not start, and none of its processes outlives it, also when this process is killed.
 *
 * Does not protect against: reading denied names inside the root; changes to protected names, which are only reported;
 * names, sizes, times and command lines outside being seen; bugs of the kernel; a service that listens on a socket file
 * inside the root; use of the machine's disk, time and memory.
 */
export function createLandlock(options: LandlockOptions = {}): IsolationBackend {
  let vets = options.vets ?? true
  const version = (helper: HelperProcess): number =>
    Math.min(helper.hello.landlock, newestVersion, options.versionCeiling ?? newestVersion)

  const start = (request: StartRequest): RunningCommand => {
    const helper = requireHelper()
    const { programs, etc } = knownSystemMounts(request.policy.network)
    const tools = visibleTools({ ...request, command: request.argv[0] }, [
      ...programs.visible,
      ...etc.directories,
    ])
    const isReading = request.policy.access === 'read'
    const directories = isReading ? null : PrivateDirectories.of(request.rootDir)
    const facts = { version: version(helper), vets, tools, directories: directories?.path ?? null }
    const policy = helper.policy(keyOf(request, facts), (id) =>
      encodePolicy(id, policyFrame(request, facts)),
    )
    const own = directories?.make() ?? null
    return startByHelper(
      helper,
      {
        policy,
        cwd: request.cwdHandle,
        cwdIdentity: anyFile,
        mounts: [],
        argv: request.argv,
        env: environmentOf(request, own),
      },
      request,
      { onEnd: async () => own?.remove() },
    )
  }

  return {
    name: 'landlock',
    prepare: prepareHelper,
    start,
    release: (rootDir) => PrivateDirectories.release(rootDir),
    async probe() {
      const found = await probeLandlock({ prepare: prepareHelper, start }, version, () => vets)
      if (found !== 'calls cannot be judged') return found
      vets = false
      const again = await probeLandlock({ prepare: prepareHelper, start }, version, () => vets)
      if (again === 'calls cannot be judged') throw new Error('unreachable: nothing is judged')
      return again
    },
    conditions: (demands: PolicyDemands): BackendConditions => {
      const helper = helperNow()
      const known = helper instanceof HelperProcess ? version(helper) : 0
      return landlockConditions(demands, { version: known, vets })
    },
  }
}

interface PolicyFacts {
  readonly version: number
  readonly vets: boolean
  readonly tools: readonly string[]
  readonly directories: string | null
}

/** Commands with the same key share a ruleset. */
function keyOf(request: StartRequest, facts: PolicyFacts): string {
  const { rootDir, policy } = request
  const { etc } = knownSystemMounts(policy.network)
  return [
    facts.version,
    facts.vets,
    policy.network,
    policy.access ?? 'write',
    facts.directories ?? '',
    policy.home?.whole ?? '',
    handleOf(request.rootDescriptor, rootDir).identity,
    keyOfFiles([...(policy.write ?? []), '', ...policy.read, '', ...facts.tools, '', ...etc.files]),
  ].join('\0')
}

/**
 * A path of the root that was opened, whatever its name means by now: the helper opens it before the command starts, and
 * until then the descriptor stays open.
 */
function handleOf(
  descriptor: number | undefined,
  rootDir: string,
): { readonly path: string; readonly identity: string } {
  if (descriptor === undefined) return { path: rootDir, identity: keyOfFiles([rootDir]) }
  const { dev, ino } = fstatSync(descriptor, { bigint: true })
  return {
    path: `/proc/${process.pid}/fd/${descriptor}`,
    identity: `${rootDir}\0${dev}:${ino}`,
  }
}

function policyFrame(
  { rootDir, rootDescriptor, policy }: StartRequest,
  facts: PolicyFacts,
): PolicyFrame {
  const { files, network, scopes } = handledRights(facts.version)
  return {
    fileRights: files,
    networkRights: policy.network === 'host' ? 0n : network,
    scopes,
    vets: facts.vets,
    rules: landlockRules(rootDir, {
      rootHandle: handleOf(rootDescriptor, rootDir).path,
      access: policy.access ?? 'write',
      network: policy.network,
      read: [...policy.read.map(absoluteDirectory), ...facts.tools],
      write: [...(policy.write ?? []), ...(policy.home === undefined ? [] : [policy.home.whole])],
      privateDirectory: facts.directories,
    }),
    filter: landlockFilter({
      // The probe has found a program for it.
      architecture: process.arch as FilterArchitecture,
      version: facts.version,
      vets: facts.vets,
      network: policy.network,
    }),
  }
}

/** A home or temporary directory in the root stays; any other is one that the command cannot write. */
function environmentOf(
  { env, rootDir, policy }: StartRequest,
  own: PrivateDirectory | null,
): string[] {
  const ours = own === null ? {} : { HOME: policy.home?.whole ?? own.home, TMPDIR: own.temporary }
  const changed = Object.entries(ours).filter(([name]) => !isWithin(env[name] ?? '/', rootDir))
  // git gives up over a file that exists and cannot be read.
  const git = existsSync('/etc/gitconfig') ? { GIT_CONFIG_NOSYSTEM: '1' } : {}
  return Object.entries({ ...git, ...env, ...Object.fromEntries(changed) }).map(
    ([name, value]) => `${name}=${value}`,
  )
}
