import { constants } from 'node:os'
import { getSystemErrorName } from 'node:util'
import type { CommandEnd } from '../running-command.ts'
import type { HelperFrame } from './frame-reader.ts'
import { step } from './frames.ts'
import type { MountStep } from './mount-step.ts'

/** What the helper says of a command that it could not start. */
export type StartFailure = Extract<HelperFrame, { kind: 'failed' }>

/** The mounts that a failure may be about. */
export interface FailedMounts {
  readonly mounts: readonly MountStep[]
  readonly template: readonly MountStep[]
}

/** Says why a command was not started: `error` as Node would have it, and `why` where isolation is the reason. */
export function notStarted(
  failure: StartFailure,
  command: string,
  mounts: FailedMounts,
): Extract<CommandEnd, { kind: 'not-started' }> {
  const { step: at, errno } = failure
  const code = errno === 0 ? 'UNKNOWN' : getSystemErrorName(-errno)
  const what = `${steps[at] ?? `step ${at} failed`}${placeOf(failure, mounts)}`
  const error = Object.assign(new Error(`spawn ${command} ${code}: ${what}`), {
    code,
    errno: -errno,
    syscall: 'spawn',
    path: command,
  })
  const isOfCommand = at === executeStep || at === step.request
  return isOfCommand
    ? { kind: 'not-started', error }
    : { kind: 'not-started', error, why: adviceFor(errno) ?? `${what} (${code}). Try again` }
}

const executeStep = 8

const steps: Readonly<Record<number, string>> = {
  1: 'a process could not be made',
  2: 'the working directory could not be entered',
  3: 'a resource limit or control group could not be set',
  4: 'privileges could not be given up',
  5: 'Landlock could not be applied',
  6: 'the system-call filter could not be loaded',
  7: 'its input and output could not be connected',
  [executeStep]: 'the program could not be executed',
  [step.request]: 'the request was refused',
  [step.namespace]: 'its namespaces could not be set up',
  [step.policy]: 'the namespaces of its policy could not be set up',
}

function placeOf({ step: at, mount }: StartFailure, { mounts, template }: FailedMounts): string {
  const failed = (at === step.policy ? template : mounts)[mount - 1]
  return failed === undefined ? '' : `, at ${failed.to}`
}

const { EACCES, EAGAIN, ENOENT, ENOMEM, ENOTDIR, ELOOP } = constants.errno
/** A name means another file than the one that was looked at. */
const ESTALE = 116

function adviceFor(errno: number): string | undefined {
  switch (errno) {
    case EACCES:
      return 'a directory that it needs may not be entered. Restore its permissions (chmod u+rwx)'
    case ENOENT:
    case ENOTDIR:
    case ELOOP:
    case ESTALE:
      return 'a directory that it needs changed while the sandbox was set up. Run it again'
    case EAGAIN:
    case ENOMEM:
      return 'the operating system has no process or memory left for it. End others or try again later'
    default:
      return undefined
  }
}
