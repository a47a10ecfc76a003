/** Limits of one command. A missing limit is not applied. */
export interface CommandLimits {
  /** Milliseconds before the whole process tree is killed. @default 60_000 @maximum 3_600_000 */
  readonly timeoutMs?: number | undefined
  /** Bytes of output kept, stdout and stderr together; longer output loses its middle. @default 200_000 @maximum 10_485_760 */
  readonly maxOutputBytes?: number | undefined
  /** Processes and threads alive at once. @default 4_096 on Linux */
  readonly processes?: number | undefined
  /** Mebibytes of memory of the whole tree. @default three quarters of the machine's, on Linux */
  readonly memoryMb?: number | undefined
  /** Mebibytes of the largest file a command may write. */
  readonly fileMb?: number | undefined
  /** Seconds of processor time per process. */
  readonly cpuSeconds?: number | undefined
}

/** {@link CommandLimits} with every field present; `null` means no limit. */
export interface ResolvedLimits {
  readonly timeoutMs: number
  readonly maxOutputBytes: number
  readonly processes: number | null
  readonly memoryMb: number | null
  readonly fileMb: number | null
  readonly cpuSeconds: number | null
}

interface Limit {
  readonly default: number | null
  readonly maximum: number
  readonly unit: string
  /** Why the maximum is what it is. */
  readonly reason: string
}

/** Every limit of a command. Tests iterate this table. */
export const commandLimits: Readonly<Record<keyof ResolvedLimits, Limit>> = {
  timeoutMs: {
    default: 60_000,
    maximum: 3_600_000,
    unit: 'milliseconds',
    reason: 'A job that runs for more than an hour belongs in a workflow.',
  },
  maxOutputBytes: {
    default: 200_000,
    maximum: 10 * 1024 * 1024,
    unit: 'bytes',
    reason: 'More than 10 MiB of text helps no reader, and each call keeps it in memory.',
  },
  processes: {
    default: null,
    maximum: 4_194_304,
    unit: 'processes',
    reason: 'The largest process id of Linux.',
  },
  memoryMb: {
    default: null,
    maximum: 1024 * 1024 * 1024,
    unit: 'MiB',
    reason: 'One pebibyte: beyond any machine, and still an exact number of bytes.',
  },
  fileMb: {
    default: null,
    maximum: 1024 * 1024 * 1024,
    unit: 'MiB',
    reason: 'As memoryMb.',
  },
  cpuSeconds: {
    default: null,
    maximum: 24 * 3600,
    unit: 'seconds',
    reason: 'An hour on every core of a large machine is still less.',
  },
}

/**
 * Names under one root that deny globs may match. Each takes a mount, and the cost of mounts grows with the square of
 * their number: two thousand delay every command by more than four seconds.
 */
export const maxDeniedNames = 1_000

/**
 * Processes and threads of a command that was given no limit: more than builds and test runners start, few enough for the
 * machine to stay usable.
 */
export const defaultProcesses = 4_096

/** How long a call waits for remaining output after its command exits: a child left behind may keep the pipe open. */
export const drainMs = 250

/** Completes checked `limits` from `defaults`. */
export function resolveLimits(limits: CommandLimits, defaults?: ResolvedLimits): ResolvedLimits {
  const resolve = (name: keyof ResolvedLimits): number | null =>
    limits[name] ?? (defaults === undefined ? commandLimits[name].default : defaults[name])
  return Object.freeze({
    // These two have a default, so they are never null.
    timeoutMs: resolve('timeoutMs') as number,
    maxOutputBytes: resolve('maxOutputBytes') as number,
    processes: resolve('processes'),
    memoryMb: resolve('memoryMb'),
    fileMb: resolve('fileMb'),
    cpuSeconds: resolve('cpuSeconds'),
  })
}
