import { SandboxError } from '../../errors/sandbox-error.ts'
import { HelperProcess, type HelperStart, startHelper } from './helper-process.ts'

interface KnownHelper {
  readonly starting: Promise<HelperStart>
  started: HelperStart | undefined
}

/** By user: a process that gives up root must not go on with a helper of root's. */
const helpers = new Map<number, KnownHelper>()

/** The living helper of this process and user, or why there can be none; `undefined` while it has to be started. */
export function helperNow(): HelperStart | undefined {
  const started = helpers.get(user())?.started
  return started instanceof HelperProcess && !started.isAlive ? undefined : started
}

/** Starts a helper unless one lives or is being started. */
export async function ensureHelper(): Promise<HelperStart> {
  const known = helpers.get(user())
  const isDead = known?.started instanceof HelperProcess && !known.started.isAlive
  if (known !== undefined && !isDead) return known.starting
  const starting = startHelper()
  const entry: KnownHelper = { starting, started: undefined }
  helpers.set(user(), entry)
  entry.started = await starting
  return entry.started
}

/** What has to be awaited before a command can start; `undefined`: nothing. */
export function prepareHelper(): Promise<void> | undefined {
  const helper = helperNow()
  if (helper === undefined) return ensureHelper().then(() => undefined)
  if (!(helper instanceof HelperProcess) || helper.pipes.isSettled) return undefined
  return helper.morePipes()
}

/**
 * The living helper.
 *
 * @throws SandboxError `TOOL_SPAWN_FAILED` where there is none
 */
export function requireHelper(): HelperProcess {
  const helper = helperNow()
  if (helper instanceof HelperProcess) return helper
  throw new SandboxError(
    'TOOL_SPAWN_FAILED',
    `The process that confines commands is not running. ${helper?.why ?? ''} Run the command again.`,
    { effect: 'none' },
  )
}

function user(): number {
  return process.geteuid?.() ?? -1
}
