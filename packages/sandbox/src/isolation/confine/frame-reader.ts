import { type } from './frames.ts'

/** What the helper and its supervisors say. */
export type HelperFrame =
  | { readonly kind: 'hello'; readonly hello: Hello }
  | {
      readonly kind: 'policy-made'
      readonly id: number
      readonly errno: number
      /** Rules that were left out; for a template the mount that did not work, from 1. */
      readonly skipped: number
    }
  | {
      readonly kind: 'started'
      readonly id: number
      readonly pid: number
      readonly supervisor: number
    }
  | {
      readonly kind: 'failed'
      readonly id: number
      readonly step: number
      readonly errno: number
      /** Which mount did not work, from 1; 0: none of them. */
      readonly mount: number
    }
  | {
      readonly kind: 'exited'
      readonly id: number
      /** As `wait` reports it; -1: the supervisor was lost. */
      readonly status: number
      /** How many processes were ended with the command; of one in namespaces, whether there were any. */
      readonly leftBehind: number
      readonly vetted: number
      readonly refused: number
      /** Kinds of calls that never work here and were tried, as bits. */
      readonly absent: number
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
  /** A supervisor can find the processes that it has to end. */
  readonly findsChildren: boolean
  /** SHA-256 of the sources, in hexadecimal. */
  readonly sources: string
}

/** A pipe that waits for a command; the ends are descriptors of the helper. */
export interface HelperPipe {
  readonly slot: number
  readonly readEnd: number
  readonly writeEnd: number
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
          findsChildren: (number(2) & 1) !== 0,
          sources: bytes.toString('hex', 20, 52),
        },
      }
    case type.policyMade:
      return { kind: 'policy-made', id, errno: number(0), skipped: number(1) }
    case type.started:
      return { kind: 'started', id, pid: number(0), supervisor: number(1) }
    case type.failed:
      return { kind: 'failed', id, step: number(0), errno: number(1), mount: number(2) }
    case type.exited: {
      const status = bytes.readInt32LE(8)
      return {
        kind: 'exited',
        id,
        status,
        leftBehind: number(1),
        vetted: number(2),
        refused: number(3),
        absent: number(4),
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
