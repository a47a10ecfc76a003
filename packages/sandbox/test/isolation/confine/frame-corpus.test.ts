import { spawn } from 'node:child_process'
import { once } from 'node:events'
import type { Socket } from 'node:net'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { FrameReader } from '../../../src/isolation/confine/frame-reader.ts'
import {
  encodePipes,
  encodePolicy,
  encodeRun,
  encodeTemplate,
} from '../../../src/isolation/confine/frames.ts'
import {
  anyFile,
  directory,
  link,
  memory,
  place,
  seal,
} from '../../../src/isolation/confine/mount-step.ts'

/** The same numbers in every run, so that a frame that fails once fails again. */
function numbersFrom(seed: number): (below: number) => number {
  let state = seed
  return (below) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return Math.floor((state / 2 ** 32) * below)
  }
}

/** Values at the edges of what a field may hold. */
const edges = [0, 1, 7, 8, 0xff, 0x7fff_ffff, 0x8000_0000, 0xffff_ffff, 4096, 262_144] as const

/** Changes a frame as a faulty sender might: bytes, whole fields, its end; the length in its head is kept true or not. */
function damaged(frame: Buffer, next: (below: number) => number): Buffer {
  const bytes = Buffer.from(frame)
  for (let change = next(4); change >= 0; change -= 1) {
    const at = next(bytes.length)
    if (next(2) === 0) bytes[at] = next(256)
    else bytes.writeUInt32LE(edges[next(edges.length)] ?? 0, Math.min(at & ~3, bytes.length - 4))
  }
  const kept = next(3) === 0 ? bytes.subarray(0, 12 + next(bytes.length - 12)) : bytes
  if (next(2) === 0) kept.writeUInt32LE(kept.length - 4, 0)
  return kept
}

// No command with this policy exists, so that a frame which is still whole starts nothing.
const noPolicy = 0x5eed_5eed
const frames: readonly Buffer[] = [
  encodePipes(3),
  encodePolicy(1, {
    fileRights: 0x1fffn,
    networkRights: 3n,
    scopes: 3n,
    vets: true,
    rules: [
      { rights: 4n, isRoot: false, path: '/usr' },
      { rights: 0x1fffn, isRoot: true, path: '/nonexistent' },
    ],
    filter: new Uint8Array(64).fill(6),
  }),
  encodeTemplate(2, {
    sharesNetwork: true,
    mounts: [
      place('/nonexistent'),
      directory('/etc'),
      link('/bin', 'usr/bin'),
      memory('/tmp', 0o1777, 1),
      seal('/'),
    ],
    filter: new Uint8Array(64).fill(6),
  }),
  encodeRun(3, {
    policy: noPolicy,
    slots: [-1, -1, -1],
    limits: [[4, 0n, 0n]],
    groupFiles: ['/nonexistent'],
    cwd: '/',
    cwdIdentity: anyFile,
    mounts: [directory('/tmp/x')],
    argv: ['/bin/true', 'x'],
    env: ['A=b'],
    proxy: { socketPath: '/nonexistent', port: 61_080 },
  }),
]

describe('a corpus of damaged frames', () => {
  test.skipIf(process.platform !== 'linux')(
    'is answered or ends the helper with its own status, never with a signal',
    async () => {
      const next = numbersFrom(20_210_627)
      const ends = new Map<string, number>()
      for (let batch = 0; batch < 40; batch += 1) {
        const corpus = Array.from({ length: 16 }, () =>
          damaged(frames[next(frames.length)] ?? encodePipes(1), next),
        )
        for (const end of await Promise.all(corpus.map(endOfHelper))) {
          ends.set(end, (ends.get(end) ?? 0) + 1)
        }
      }
      expect([...ends.keys()].toSorted()).toEqual(['0', '125'])
      // Neither one says anything if all frames come to the same end.
      expect(Math.min(...ends.values())).toBeGreaterThan(50)
    },
  )

  test('is read by Node as frames, or refused with RangeError', () => {
    const next = numbersFrom(20_240_229)
    const answers = [103, 104, 105, 106, 107, 102, 101].map((type) => {
      const answer = Buffer.alloc(64, 1)
      answer.writeUInt32LE(60, 0)
      answer.writeUInt32LE(type, 4)
      return answer
    })
    const outcomes = { read: 0, refused: 0 }
    for (let round = 0; round < 20_000; round += 1) {
      const bytes = damaged(answers[next(answers.length)] ?? Buffer.alloc(12), next)
      const cut = next(bytes.length)
      const reader = new FrameReader()
      try {
        reader.read(bytes.subarray(0, cut))
        reader.read(bytes.subarray(cut))
        outcomes.read += 1
      } catch (error) {
        expect(error).toBeInstanceOf(RangeError)
        outcomes.refused += 1
      }
    }
    expect(Math.min(outcomes.read, outcomes.refused)).toBeGreaterThan(1000)
  })
})

const program = join(import.meta.dirname, `../../../bin/linux-${process.arch}/confine`)

async function endOfHelper(bytes: Buffer): Promise<string> {
  const child = spawn(program, ['helper'], {
    stdio: ['ignore', 'ignore', 'ignore', 'pipe'],
    env: {},
  })
  const socket = child.stdio[3] as Socket
  socket.on('error', () => {}).resume()
  socket.end(bytes)
  const [code, signal] = (await once(child, 'exit')) as [number | null, string | null]
  return String(signal ?? code)
}
