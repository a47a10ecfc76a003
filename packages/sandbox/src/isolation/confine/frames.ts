import { encodeEach, encodeNames } from '../../path-rules/path-bytes.ts'
import type { ProxyAddress } from '../isolation-policy.ts'
import type { Identity, MountStep } from './mount-step.ts'

/** The version of the conversation with the helper; both sides come from one package. */
export const protocolVersion = 4

/** A longer frame ends the helper, so none is sent. */
const maxFrameBytes: number = 4 * 1024 * 1024

/** Types of frames, as the program numbers them. */
export const type = {
  policy: 2,
  run: 3,
  kill: 4,
  pipes: 5,
  forget: 6,
  template: 7,
  hello: 101,
  policyMade: 102,
  started: 103,
  exited: 104,
  pipesMade: 105,
  failed: 106,
  violation: 107,
} as const

/** Steps at which a start can fail that this side has to know; `start-by-helper.ts` names all of them. */
export const step = {
  request: 9,
  namespace: 10,
  /** Ours: the helper reports it by the policy, not by the command. */
  policy: 11,
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

/** What commands in namespaces begin with. */
export interface TemplateFrame {
  readonly sharesNetwork: boolean
  readonly mounts: readonly MountStep[]
  readonly filter: Uint8Array
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
  readonly cwdIdentity: Identity
  /** The command's way to its proxy. */
  readonly proxy?: ProxyAddress | undefined
  /** On top of those of its template. */
  readonly mounts: readonly MountStep[]
  readonly argv: readonly string[]
  readonly env: readonly string[]
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

/** Encodes a template; commands name it by `id`, as they do a policy. */
export function encodeTemplate(id: number, template: TemplateFrame): Buffer {
  const { sharesNetwork, mounts, filter } = template
  return frame(type.template, id, [
    u32(sharesNetwork ? 1 : 0, mounts.length, filter.length / 8),
    ...encodeMounts(mounts),
    filter,
  ])
}

function encodeMounts(mounts: readonly MountStep[]): Buffer[] {
  const names = encodeEach(mounts.map(({ from, to }) => `${from}\0${to}\0`))
  return mounts.flatMap(({ kind, mode, size, identity }, index) => [
    u32(kind, mode),
    u64(size),
    ...encodeIdentity(identity),
    ...names.slice(index, index + 1),
  ])
}

function encodeIdentity({ device, inode }: Identity): Buffer[] {
  return [u64(device), u64(inode)]
}

/**
 * Encodes a command.
 *
 * @throws RangeError when it is longer than the helper takes
 */
export function encodeRun(id: number, run: RunFrame): Buffer {
  return frame(type.run, id, [
    u32(run.policy, ...run.slots),
    u32(run.limits.length, run.groupFiles.length, run.mounts.length),
    u32(run.argv.length, run.env.length, run.proxy?.port ?? 0),
    ...run.limits.flatMap(([resource, soft, hard]) => [u32(resource), u64(soft), u64(hard)]),
    ...encodeIdentity(run.cwdIdentity),
    ...encodeMounts(run.mounts),
    // One conversion for all of them.
    text(
      [...run.groupFiles, run.cwd, run.proxy?.socketPath ?? '', ...run.argv, ...run.env].join('\0'),
    ),
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
