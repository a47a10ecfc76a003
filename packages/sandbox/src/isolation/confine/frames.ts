import { encodeNames } from '../../path-rules/path-bytes.ts'

/** The version of the conversation with the helper; both sides come from one package. */
export const protocolVersion = 1

/** A longer frame ends the helper, so none is sent. */
const maxFrameBytes: number = 4 * 1024 * 1024

const type = {
  policy: 2,
  run: 3,
  kill: 4,
  pipes: 5,
  forget: 6,
  hello: 101,
  policyMade: 102,
  started: 103,
  exited: 104,
  pipesMade: 105,
  failed: 106,
  violation: 107,
} as const

/** What a command may use, as the kernel's numbers. */
export interface PolicyFrame {
  readonly fileRights: bigint
  readonly networkRights: bigint
  readonly scopes: bigint
  readonly vets: boolean
  readonly rules: readonly PolicyRule[]
  /** Instructions of the system-call filter, 8 bytes each. */
  readonly filter: Uint8Array
}

/** One place that commands may use. */
export interface PolicyRule {
  readonly rights: bigint
  /** Whether commands may change what lies in it, modes and times included. */
  readonly isRoot: boolean
  /** Absolute, without links. */
  readonly path: string
}

/** One command to start. */
export interface RunFrame {
  readonly policy: number
  /** Slots of standard input, output and errors; -1: nothing, or for errors the same as output. */
  readonly slots: readonly [stdin: number, stdout: number, stderr: number]
  readonly limits: readonly (readonly [resource: number, soft: bigint, hard: bigint])[]
  /** Files named `cgroup.procs`. */
  readonly groupFiles: readonly string[]
  readonly cwd: string
  readonly argv: readonly string[]
  readonly env: readonly string[]
}

/** What the helper and its supervisors say. */
export type HelperFrame =
  | { readonly kind: 'hello'; readonly hello: Hello }
  | {
      readonly kind: 'policy-made'
      readonly id: number
      readonly errno: number
      readonly skipped: number
    }
  | {
      readonly kind: 'started'
      readonly id: number
      readonly pid: number
      readonly supervisor: number
    }
  | { readonly kind: 'failed'; readonly id: number; readonly step: number; readonly errno: number }
  | {
      readonly kind: 'exited'
      readonly id: number
      /** As `wait` reports it; -1: the supervisor was lost. */
      readonly status: number
      readonly leftBehind: number
      readonly vetted: number
      readonly refused: number
    }
  | { readonly kind: 'pipes-made'; readonly pipes: readonly HelperPipe[] }
  | {
      readonly kind: 'violation'
      readonly id: number
      readonly call: number
      readonly what: string
    }

/** The first frame of a helper. */
export interface Hello {
  readonly protocol: number
  /** Version of Landlock; 0: none. */
  readonly landlock: number
  /** The kernel lists the children of a process. */
  readonly listsChildren: boolean
  /** SHA-256 of the sources, in hexadecimal. */
  readonly sources: string
}

/** A pipe that waits for a command; the ends are descriptors of the helper. */
export interface HelperPipe {
  readonly slot: number
  readonly readEnd: number
  readonly writeEnd: number
}

/** Encodes a policy; commands name it by `id`. */
export function encodePolicy(id: number, policy: PolicyFrame): Buffer {
  return frame(type.policy, id, [
    u64(policy.fileRights),
    u64(policy.networkRights),
    u64(policy.scopes),
    u32(policy.vets ? 1 : 0, policy.rules.length, 0, policy.filter.length / 8),
    ...policy.rules.flatMap(({ rights, isRoot, path }) => [
      u64(rights),
      u32(isRoot ? 1 : 0),
      text(path),
    ]),
    policy.filter,
  ])
}

/**
 * Encodes a command.
 *
 * @throws RangeError when it is longer than the helper takes
 */
export function encodeRun(id: number, run: RunFrame): Buffer {
  return frame(type.run, id, [
    u32(run.policy, ...run.slots),
    u32(run.limits.length, run.groupFiles.length, run.argv.length, run.env.length),
    ...run.limits.flatMap(([resource, soft, hard]) => [u32(resource), u64(soft), u64(hard)]),
    // One conversion for all of them.
    text([...run.groupFiles, run.cwd, ...run.argv, ...run.env].join('\0')),
  ])
}

export function encodeKill(id: number): Buffer {
  return frame(type.kill, id, [])
}

export function encodeForget(policy: number): Buffer {
  return frame(type.forget, policy, [])
}

export function encodePipes(count: number): Buffer {
  return frame(type.pipes, 0, [u32(count)])
}

function frame(kind: number, id: number, payload: readonly Uint8Array[]): Buffer {
  const length = payload.reduce((sum, part) => sum + part.length, 8)
  if (length > maxFrameBytes) throw new RangeError(`a frame of ${length} bytes`)
  return Buffer.concat([u32(length, kind, id), ...payload])
}

function u32(...numbers: readonly number[]): Buffer {
  const bytes = Buffer.allocUnsafe(numbers.length * 4)
  for (const [index, number] of numbers.entries()) bytes.writeUInt32LE(number >>> 0, index * 4)
  return bytes
}

function u64(number: bigint): Buffer {
  const bytes = Buffer.allocUnsafe(8)
  bytes.writeBigUInt64LE(number)
  return bytes
}

function text(value: string): Buffer {
  return encodeNames(`${value}\0`)
}

/** Cuts the bytes of the helper into frames, however they arrive. */
export class FrameReader {
  #rest: Buffer = Buffer.alloc(0)

  /**
   * Returns the frames that are complete now.
   *
   * @throws RangeError for bytes that no helper of this package sends
   */
  read(bytes: Buffer): HelperFrame[] {
    this.#rest = this.#rest.length === 0 ? bytes : Buffer.concat([this.#rest, bytes])
    const frames: HelperFrame[] = []
    while (this.#rest.length >= 4) {
      const length = this.#rest.readUInt32LE(0)
      if (length < 8 || length > maxHelperFrame) throw new RangeError(`a frame of ${length} bytes`)
      if (this.#rest.length < 4 + length) break
      frames.push(decode(this.#rest.subarray(4, 4 + length)))
      this.#rest = this.#rest.subarray(4 + length)
    }
    return frames
  }
}

// Its longest is a violation with a path.
const maxHelperFrame = 4096

function decode(bytes: Buffer): HelperFrame {
  const [kind, id] = [bytes.readUInt32LE(0), bytes.readUInt32LE(4)]
  // Out of range throws by itself.
  const number = (index: number): number => bytes.readUInt32LE(8 + 4 * index)
  switch (kind) {
    case type.hello:
      return {
        kind: 'hello',
        hello: {
          protocol: number(0),
          landlock: number(1),
          listsChildren: (number(2) & 1) !== 0,
          sources: bytes.toString('hex', 20, 52),
        },
      }
    case type.policyMade:
      return { kind: 'policy-made', id, errno: number(0), skipped: number(1) }
    case type.started:
      return { kind: 'started', id, pid: number(0), supervisor: number(1) }
    case type.failed:
      return { kind: 'failed', id, step: number(0), errno: number(1) }
    case type.exited: {
      const status = bytes.readInt32LE(8)
      return {
        kind: 'exited',
        id,
        status,
        leftBehind: number(1),
        vetted: number(2),
        refused: number(3),
      }
    }
    case type.pipesMade:
      return { kind: 'pipes-made', pipes: pipesOf(bytes.length - 8, number) }
    case type.violation:
      // The text ends with a NUL.
      return {
        kind: 'violation',
        id,
        call: number(0),
        what: bytes.toString('utf8', 12, bytes.length - 1),
      }
    default:
      throw new RangeError(`a frame of type ${kind}`)
  }
}

function pipesOf(bytes: number, number: (index: number) => number): HelperPipe[] {
  return Array.from({ length: Math.ceil(bytes / 12) }, (_, pipe) => ({
    slot: number(3 * pipe),
    readEnd: number(3 * pipe + 1),
    writeEnd: number(3 * pipe + 2),
  }))
}
