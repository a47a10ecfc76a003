/** Limits of one command. Absent ones are not applied. */
export interface CommandLimits {
  /** Milliseconds before the whole process tree is killed. @default 60_000 @maximum 3_600_000 */
  readonly timeoutMs?: number | undefined
  /** Bytes of output kept, stdout and stderr together; the middle of more is left out. @default 200_000 @maximum 10_485_760 */
  readonly maxOutputBytes?: number | undefined
  /** Processes and threads alive at once. */
  readonly processes?: number | undefined
  /** Mebibytes of memory of the whole tree. */
  readonly memoryMb?: number | undefined
  /** Mebibytes of the largest file a command may write. */
  readonly fileMb?: number | undefined
  /** Seconds of processor time of one process. */
  readonly cpuSeconds?: number | undefined
}

/** {@link CommandLimits} with every field present; `null` is "not limited". */
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

/** Every cap of a command in one place; tests iterate it. */
export const commandLimits: Readonly<Record<keyof ResolvedLimits, Limit>> = {
  timeoutMs: {
    default: 60_000,
    maximum: 3_600_000,
    unit: 'milliseconds',
    reason: 'S0: 60 s by default, one hour at most; a longer job belongs to a workflow.',
  },
  maxOutputBytes: {
    default: 200_000,
    maximum: 10 * 1024 * 1024,
    unit: 'bytes',
    reason: 'S0: 200 kB; more than 10 MiB of text helps no reader and is held in memory per call.',
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
 * Names under one root that deny globs may match. Each is a mount of its own, and what mounts cost grows with the square
 * of their number: two thousand delay every command by more than four seconds.
 */
export const maxDeniedNames = 1_000

/** How long a call waits for the rest of the output after its command has exited: a child left behind may hold the pipe for ever. */
export const drainMs = 250

/** Fills in `limits`, which were read and checked, from `defaults`. */
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
