import { SandboxError } from '../errors/sandbox-error.ts'
import type {
  IsolationBackend,
  IsolationBackendName,
  IsolationProperty,
  IsolationReport,
  NotEnforced,
  PolicyDemands,
  ProbeResult,
} from './backend.ts'
import { createBubblewrap } from './bubblewrap/backend.ts'
import { createLandlock } from './confine/landlock.ts'
import { createNamespaces } from './confine/namespaces.ts'
import { createNoIsolation } from './none.ts'
import { createSeatbelt } from './seatbelt/backend.ts'

/**
 * How much isolation a sandbox asks for. `'auto'`: the strongest backend that a live canary has proved here, and a
 * report that says which. `'require'`: every property, or an error before the first command. `{ require }`: those
 * properties, and the named backend if one is named. `'none'`: no isolation, spelled out.
 */
export type IsolationOption =
  | 'auto'
  | 'require'
  | 'none'
  | { readonly require: readonly IsolationProperty[]; readonly backend?: IsolationBackendName }

/** What {@link detectIsolation} decides from. */
export interface DetectIsolationOptions {
  readonly isolation: IsolationOption
  /** What commands are to be kept from: `network: 'host'` is not a property missing, it was asked for. */
  readonly demands: PolicyDemands
  /** Strongest first. @default namespaces, bubblewrap, landlock, seatbelt, none */
  readonly backends?: readonly IsolationBackend[]
}

/** The backend to use and the truth about it. */
export interface DetectedIsolation {
  readonly backend: IsolationBackend
  readonly report: IsolationReport
}

/**
 * Finds the strongest backend that works for this user on this machine. Each is tried once per process and user.
 *
 * @throws SandboxError `TOOL_ISOLATION_UNAVAILABLE` when a required property is not enforced: names it and the remedy
 * @throws SandboxError `INVALID_INPUT` for a value that is none of {@link IsolationOption}
 */
export async function detectIsolation(options: DetectIsolationOptions): Promise<DetectedIsolation> {
  const { required, named } = resolveIsolation(options.isolation)
  const candidates = candidatesFor(named, options.backends ?? ownBackends())
  const missing: NotEnforced[] = []
  for (const backend of candidates) {
    const probed = await cachedProbe(backend)
    if (!probed.usable) {
      missing.push(...probed.notEnforced)
      continue
    }
    const report = reportOf(backend, probed, missing, options)
    const lacking = required.filter((property) => !isEnforced(report, property))
    // Where a stronger backend failed, its obstacle says it all; the weaker one's properties follow from it.
    if (lacking.length > 0) {
      throw unavailable(lacking, missing.length > 0 ? missing : report.notEnforced)
    }
    return { backend, report }
  }
  throw unavailable(required, missing)
}

const allProperties: readonly IsolationProperty[] = ['files', 'network', 'kill', 'syscalls']
const allBackends: readonly IsolationBackendName[] = [
  'namespaces',
  'bubblewrap',
  'landlock',
  'seatbelt',
  'none',
]

interface ResolvedIsolation {
  readonly required: readonly IsolationProperty[]
  readonly named: IsolationBackendName | undefined
}

function resolveIsolation(isolation: IsolationOption): ResolvedIsolation {
  if (isolation === 'auto') return { required: [], named: undefined }
  if (isolation === 'require') return { required: allProperties, named: undefined }
  if (isolation === 'none') return { required: [], named: 'none' }
  const known =
    typeof isolation === 'object' &&
    isolation !== null &&
    Array.isArray(isolation.require) &&
    isolation.require.every((property) => allProperties.includes(property)) &&
    (isolation.backend === undefined || allBackends.includes(isolation.backend))
  if (known) return { required: isolation.require, named: isolation.backend }
  throw new SandboxError(
    'INVALID_INPUT',
    `isolation is ${JSON.stringify(isolation)}. Pass 'auto', 'require', 'none', or { require: [...] } with any of ${allProperties.join(', ')}, and as backend one of ${allBackends.join(', ')}.`,
    { details: { option: 'isolation', value: isolation }, effect: 'none' },
  )
}

function candidatesFor(
  named: IsolationBackendName | undefined,
  all: readonly IsolationBackend[],
): readonly IsolationBackend[] {
  if (named !== undefined) return all.filter(({ name }) => name === named)
  // A backend of another system is not worth reporting.
  const foreign =
    process.platform === 'darwin' ? ['namespaces', 'bubblewrap', 'landlock'] : ['seatbelt']
  return all.filter(({ name }) => !foreign.includes(name))
}

function reportOf(
  backend: IsolationBackend,
  probed: ProbeResult,
  missing: readonly NotEnforced[],
  { demands, isolation }: DetectIsolationOptions,
): IsolationReport {
  const { network } = demands
  const conditions = backend.conditions?.(demands)
  const proved = { ...probed.enforced, ...conditions?.enforced }
  const enforced = network === 'host' ? { ...proved, network } : proved
  const all = [...probed.notEnforced, ...(conditions?.notEnforced ?? [])]
  const entries = isolation === 'none' ? all.map(asRequested) : explain(all, missing)
  return Object.freeze({
    backend: backend.name,
    enforced: Object.freeze({ ...enforced }),
    notEnforced: Object.freeze(
      entries.filter(({ what }) => what !== 'network' || network === 'none'),
    ),
    limitations: Object.freeze(conditions?.limitations ?? []),
  })
}

function asRequested(entry: NotEnforced): NotEnforced {
  return {
    ...entry,
    fix: "isolation: 'none' was asked for. Leave the option out to use the strongest backend.",
  }
}

/** The remedy for a weaker backend is to make the stronger one work: its reason comes with each property lost. */
function explain(
  entries: readonly NotEnforced[],
  missing: readonly NotEnforced[],
): readonly NotEnforced[] {
  const [obstacle] = missing
  if (obstacle === undefined) return entries
  return entries.map((entry) => ({
    ...entry,
    fix: `${obstacle.why} ${obstacle.fix}`,
  }))
}

function isEnforced({ enforced }: IsolationReport, property: IsolationProperty): boolean {
  const state = enforced[property]
  return state === 'enforced' || state === 'host'
}

function unavailable(
  lacking: readonly IsolationProperty[],
  entries: readonly NotEnforced[],
): SandboxError {
  const relevant = entries.filter(({ what }) => lacking.includes(what))
  const reasons = new Map(
    (relevant.length > 0 ? relevant : entries).map((entry) => [entry.why, entry]),
  )
  const explained = [...reasons.values()].map(({ why, fix }) => `${why} ${fix}`)
  return new SandboxError(
    'TOOL_ISOLATION_UNAVAILABLE',
    `Isolation is required and not available here: ${lacking.join(', ') || 'the named backend'}. ${explained.join(' ')}`.trim(),
    { details: { missing: lacking, notEnforced: entries }, effect: 'none' },
  )
}

function ownBackends(): readonly IsolationBackend[] {
  backends ??= [
    createNamespaces(),
    createBubblewrap(),
    createLandlock(),
    createSeatbelt(),
    createNoIsolation(),
  ]
  return backends
}

let backends: readonly IsolationBackend[] | undefined

const probes = new WeakMap<IsolationBackend, Map<number, Promise<ProbeResult>>>()

// Per user too: a process that gives up root may not be allowed what root was.
function cachedProbe(backend: IsolationBackend): Promise<ProbeResult> {
  const uid = process.geteuid?.() ?? -1
  const byUser = probes.get(backend) ?? new Map<number, Promise<ProbeResult>>()
  probes.set(backend, byUser)
  const probed = byUser.get(uid) ?? backend.probe()
  byUser.set(uid, probed)
  return probed
}
