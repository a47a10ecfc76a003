import { spawn } from 'node:child_process'
import { once } from 'node:events'
import type { Socket } from 'node:net'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { FrameReader } from '../../../src/isolation/confine/frame-reader.ts'
import { encodeKill, encodePipes, encodeTemplate } from '../../../src/isolation/confine/frames.ts'
import { directory } from '../../../src/isolation/confine/mount-step.ts'

const frame = (type: number, id: number, ...numbers: number[]): Buffer => {
  const bytes = Buffer.alloc(12 + 4 * numbers.length)
  for (const [index, number] of [bytes.length - 4, type, id, ...numbers].entries()) {
    bytes.writeUInt32LE(number >>> 0, 4 * index)
  }
  return bytes
}

const mountFrame = (kind: number, to: string): Buffer =>
  encodeTemplate(1, {
    sharesNetwork: false,
    mounts: [{ ...directory(to), kind }],
    filter: new Uint8Array(),
  })

describe('FrameReader', () => {
  test('reads frames however their bytes arrive', () => {
    const bytes = Buffer.concat([
      frame(103, 7, 40, 41),
      frame(104, 7, 256, 1, 2, 3, 8),
      frame(105, 0, 1, 2, 3),
    ])
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 1, max: 20 })), (lengths) => {
        const reader = new FrameReader()
        const frames = []
        let at = 0
        for (const length of [...lengths, bytes.length]) {
          frames.push(...reader.read(bytes.subarray(at, at + length)))
          at += length
        }
        expect(frames).toEqual([
          { kind: 'started', id: 7, pid: 40, supervisor: 41 },
          { kind: 'exited', id: 7, status: 256, leftBehind: 1, vetted: 2, refused: 3, absent: 8 },
          { kind: 'pipes-made', pipes: [{ slot: 1, readEnd: 2, writeEnd: 3 }] },
        ])
      }),
    )
  })

  test('reads any bytes as frames or refuses them with RangeError', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 200 }), (bytes) => {
        try {
          new FrameReader().read(Buffer.from(bytes))
        } catch (error) {
          expect(error).toBeInstanceOf(RangeError)
        }
      }),
    )
  })
})

describe.skipIf(process.platform !== 'linux')('a helper', () => {
  /** Sends bytes to a helper of its own, closes the socket, and returns its exit code and complaint. */
  async function helperAfter(bytes: Buffer): Promise<[number | null, string]> {
    const program = join(import.meta.dirname, `../../../bin/linux-${process.arch}/confine`)
    const child = spawn(program, ['helper'], {
      stdio: ['ignore', 'ignore', 'pipe', 'pipe'],
      env: {},
    })
    const socket = child.stdio[3] as Socket
    socket.on('error', () => {}).resume()
    if (child.stderr === null) throw new Error('started without a pipe')
    const complaint = text(child.stderr)
    socket.end(bytes)
    const [code] = (await once(child, 'exit')) as [number | null]
    return [code, (await complaint).replaceAll('\0', '').trim()]
  }

  test('ends quietly with its socket, whole frames or half of one', async () => {
    for (const bytes of [
      Buffer.alloc(0),
      encodePipes(3),
      encodeKill(9),
      encodePipes(3).subarray(0, 5),
    ]) {
      expect(await helperAfter(bytes)).toEqual([0, ''])
    }
  })

  test.each<[string, Buffer, string]>([
    ['a length that is too small', frame(2, 1).fill(7, 0, 1), 'bytes that are no frame'],
    [
      'a length that is too large',
      Buffer.from([255, 255, 255, 255, 3, 0, 0, 0, 1, 0, 0, 0]),
      'bytes that are no frame',
    ],
    ['an unknown type', frame(99, 1), 'bytes that are no frame'],
    ['a policy that is cut off', frame(2, 1, 1, 2, 3), 'a policy that cannot be read'],
    [
      'more rules than there are',
      frame(2, 1, 0, 0, 0, 0, 0, 0, 0, 900, 0, 0),
      'a policy that cannot be read',
    ],
    ['a template that is cut off', frame(7, 1, 0, 3), 'a template that cannot be read'],
    ['more mounts than there are', frame(7, 1, 0, 900, 0), 'a template that cannot be read'],
    ['a mount of an unknown kind', mountFrame(11, '/a'), 'a template that cannot be read'],
    ['a mount at a relative name', mountFrame(1, 'a'), 'a template that cannot be read'],
    [
      'a command without arguments',
      frame(3, 1, 1, -1, -1, -1, 0, 0, 0, 0, 0),
      'a command that cannot be read',
    ],
    [
      'a string without its end',
      frame(3, 1, 1, -1, -1, -1, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0x41414141),
      'a command that cannot be read',
    ],
    [
      'bytes behind the last string',
      frame(3, 1, 1, -1, -1, -1, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0x00410041, 0x41414141),
      'a command that cannot be read',
    ],
  ])('ends at once over %s', async (_, bytes, complaint) => {
    expect(await helperAfter(bytes)).toEqual([125, complaint])
  })
})
