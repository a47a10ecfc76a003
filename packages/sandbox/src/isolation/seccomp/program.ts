import { auditArchitecture, type FilterArchitecture } from '../bubblewrap/seccomp-table.ts'

/** What a filter decides about a call, `SECCOMP_RET_*`: the high half is the action, the low half the errno. */
export const action = {
  allow: 0x7fff_0000,
  kill: 0x8000_0000,
  /** The supervisor of the command judges it. */
  vet: 0x7fc0_0000,
  /** EPERM. */
  refuse: 0x0005_0001,
  /** EACCES. */
  noAccess: 0x0005_000d,
  /** ENOSYS. */
  unknownCall: 0x0005_0026,
  /** EAFNOSUPPORT. */
  unknownFamily: 0x0005_0061,
} as const

/** Offsets into struct seccomp_data. Arguments are 64 bits wide; the kernel itself reads the low half of these ones. */
export const field = { number: 0, architecture: 4, argument0: 16, argument1: 24 } as const
export const argument = (index: number): number => field.argument0 + 8 * index

/** `[code, jump if true, jump if false, constant]` of struct sock_filter. */
export type Instruction = readonly [
  code: number,
  jumpTrue: number,
  jumpFalse: number,
  constant: number,
]
export type Block = readonly Instruction[]

export const load = (offset: number): Block => [[0x20, 0, 0, offset]]
export const stop = (result: number): Block => [[0x06, 0, 0, result]]
export const ifEqual = (value: number, result: number): Block => [
  [0x15, 0, 1, value],
  ...stop(result),
]
export const unless = (value: number, result: number): Block => [
  [0x15, 1, 0, value],
  ...stop(result),
]
const ifAtLeast = (value: number, result: number): Block => [[0x35, 0, 1, value], ...stop(result)]
export const ifAnyBit = (mask: number, result: number): Block => [
  [0x45, 0, 1, mask],
  ...stop(result),
]
export const unlessAnyBit = (mask: number, result: number): Block => [
  [0x45, 1, 0, mask],
  ...stop(result),
]

/** What is done with one system call: every path through the body ends with a result. */
export interface Rule {
  readonly call: number
  readonly body: Block
}

/** The accumulator and a mask: what is loaded next replaces it. */
export const keepBits = (mask: number): Block => [[0x54, 0, 0, mask]]

/** Encodes the rules of one architecture as a program for the kernel; a later rule for the same call replaces an earlier. */
export function encodeFilter(architecture: FilterArchitecture, rules: readonly Rule[]): Uint8Array {
  const last = new Map(rules.map((rule) => [rule.call, rule]))
  return encode([
    load(field.architecture),
    unless(auditArchitecture[architecture], action.kill),
    load(field.number),
    // x32 shares the architecture of x64 and numbers its calls from here.
    ...(architecture === 'x64' ? [ifAtLeast(0x4000_0000, action.unknownCall)] : []),
    decide([...last.values()].toSorted((a, b) => a.call - b.call)),
  ])
}

/**
 * Finds the rule by halves, in a dozen comparisons instead of a hundred: the kernel walks the filter once for each of its
 * calls when it is loaded, and from then on at each call that some rule looks into, such as every opening of a file.
 */
function decide(rules: readonly Rule[]): Block {
  if (rules.length <= 3) {
    const each = rules.map(({ call, body }): Block => [[0x15, 0, body.length, call], ...body])
    return [...each.flat(), ...stop(action.allow)]
  }
  const middle = rules.length >> 1
  const below = decide(rules.slice(0, middle))
  const from = decide(rules.slice(middle))
  const first = rules[middle]?.call ?? 0
  if (below.length <= 255) return [[0x35, below.length, 0, first], ...below, ...from]
  // Only a jump without a condition is long enough.
  return [[0x35, 0, 1, first], [0x05, 0, 0, below.length], ...below, ...from]
}

function encode(blocks: readonly Block[]): Uint8Array {
  const instructions = blocks.flat()
  const view = new DataView(new ArrayBuffer(instructions.length * 8))
  for (const [index, [code, jumpTrue, jumpFalse, constant]] of instructions.entries()) {
    // A byte each; more would silently lead elsewhere.
    if (Math.max(jumpTrue, jumpFalse) > 255) throw new Error(`jump too far at ${index}`)
    view.setUint16(index * 8, code, true)
    view.setUint8(index * 8 + 2, jumpTrue)
    view.setUint8(index * 8 + 3, jumpFalse)
    view.setUint32(index * 8 + 4, constant, true)
  }
  return new Uint8Array(view.buffer)
}
