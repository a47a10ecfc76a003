import { SandboxError } from '../errors/sandbox-error.ts'
import type {
  IsolationBackend,
  IsolationBackendName,
  IsolationProperty,
  IsolationReport,
  NotEnforced,
  ProbeVerdict,
} from './backend.ts'
import { createBubblewrap } from './bubblewrap/backend.ts'
import { createNoIsolation } from './none.ts'
import { createSeatbelt } from './seatbelt/backend.ts'

/**
 * How much isolation a sandbox asks for. `'auto'`: the strongest backend that a live canary has proved here, and a
 * report that says which. `'require'`: every property, or an error before the first command. `{ require }`: those
 * properties, and the named backend if one is named. `'none'`: no isolation, spelled out.
 */
export type IsolationWish =
  | 'auto'
  | 'require'
  | 'none'
  | { readonly require: readonly IsolationProperty[]; readonly backend?: IsolationBackendName }

/** What {@link detectIsolation} decides from. */
export interface DetectIsolationOptions {
  readonly wish: IsolationWish
  /** The network that commands will have: `'host'` is not a property missing, it was asked for. */
  readonly network: 'none' | 'host'
  /** Strongest first. @default bubblewrap, seatbelt, none */
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
 * @throws SandboxError `INVALID_INPUT` for a wish that is none of {@link IsolationWish}
 */
export async function detectIsolation(options: DetectIsolationOptions): Promise<DetectedIsolation> {
  const { required, named } = resolveWish(options.wish)
  const candidates = candidatesFor(named, options.backends ?? ownBackends())
  const missing: NotEnforced[] = []
  for (const backend of candidates) {
    const verdict = await cachedVerdict(backend)
    if (!verdict.usable) {
      missing.push(...verdict.notEnforced)
      continue
    }
    const report = reportOf(backend, verdict, missing, options)
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
const allBackends: readonly IsolationBackendName[] = ['bubblewrap', 'seatbelt', 'none']

interface ResolvedWish {
  readonly required: readonly IsolationProperty[]
  readonly named: IsolationBackendName | undefined
}

function resolveWish(wish: IsolationWish): ResolvedWish {
  if (wish === 'auto') return { required: [], named: undefined }
  if (wish === 'require') return { required: allProperties, named: undefined }
  if (wish === 'none') return { required: [], named: 'none' }
  const known =
    typeof wish === 'object' &&
    wish !== null &&
    Array.isArray(wish.require) &&
    wish.require.every((property) => allProperties.includes(property)) &&
    (wish.backend === undefined || allBackends.includes(wish.backend))
  if (known) return { required: wish.require, named: wish.backend }
  throw new SandboxError(
    'INVALID_INPUT',
    `isolation is ${JSON.stringify(wish)}. Pass 'auto', 'require', 'none', or { require: [...] } with any of ${allProperties.join(', ')}, and as backend one of ${allBackends.join(', ')}.`,
    { details: { option: 'isolation', value: wish }, effect: 'none' },
  )
}

function candidatesFor(
  named: IsolationBackendName | undefined,
  all: readonly IsolationBackend[],
): readonly IsolationBackend[] {
  if (named !== undefined) return all.filter(({ name }) => name === named)
  // A backend of another system is no obstacle worth reporting.
  const foreign = process.platform === 'darwin' ? 'bubblewrap' : 'seatbelt'
  return all.filter(({ name }) => name !== foreign)
}

function reportOf(
  backend: IsolationBackend,
  verdict: ProbeVerdict,
  missing: readonly NotEnforced[],
  { network, wish }: DetectIsolationOptions,
): IsolationReport {
  const enforced = network === 'host' ? { ...verdict.enforced, network } : verdict.enforced
  const entries =
    wish === 'none' ? verdict.notEnforced.map(asWished) : explain(verdict.notEnforced, missing)
  return Object.freeze({
    backend: backend.name,
    enforced: Object.freeze({ ...enforced }),
    notEnforced: Object.freeze(
      entries.filter(({ what }) => what !== 'network' || network === 'none'),
    ),
  })
}

function asWished(entry: NotEnforced): NotEnforced {
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
  return entries.map(({ what, why }) => ({
    what,
    why: `${why} ${obstacle.why}`,
    fix: obstacle.fix,
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
  backends ??= [createBubblewrap(), createSeatbelt(), createNoIsolation()]
  return backends
}

let backends: readonly IsolationBackend[] | undefined

const verdicts = new WeakMap<IsolationBackend, Map<number, Promise<ProbeVerdict>>>()

// Per user too: a process that gives up root may not be allowed what root was.
function cachedVerdict(backend: IsolationBackend): Promise<ProbeVerdict> {
  const uid = process.geteuid?.() ?? -1
  const byUser = verdicts.get(backend) ?? new Map<number, Promise<ProbeVerdict>>()
  verdicts.set(backend, byUser)
  const verdict = byUser.get(uid) ?? backend.probe()
  byUser.set(uid, verdict)
  return verdict
}
