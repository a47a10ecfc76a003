import { existsSync, readFileSync } from 'node:fs'
import { array, assert, bigInt, constantFrom, nat, pre, property } from 'fast-check'
import { describe, expect, test } from 'vitest'
import {
  hasSystemCallFilter,
  systemCallFilter,
} from '../../../src/isolation/bubblewrap/seccomp-filter.ts'
import {
  auditArchitecture,
  inspectedSystemCalls,
  modeCalls,
  refusedSystemCalls,
  type SystemCallNumbers,
} from '../../../src/isolation/bubblewrap/seccomp-table.ts'
import { runFilter } from '../../fixtures/filter-machine.ts'

const architectures = ['x64', 'arm64'] as const
const allow = { action: 'allow' }
const refuse = { action: 'errno', errno: 1 }
const unknownCall = { action: 'errno', errno: 38 }
const unknownFamily = { action: 'errno', errno: 97 }

describe.each(architectures)('systemCallFilter for %s', (architecture) => {
  const filter = systemCallFilter(architecture)
  const index = architecture === 'x64' ? 0 : 1
  const walk = (number: number, args: readonly bigint[] = []) =>
    runFilter(filter, { number, architecture: auditArchitecture[architecture], args })
  const run = (number: number, args: readonly bigint[] = []) => walk(number, args).decision
  const { clone, clone3, openat2, unshare, socket, socketpair, ioctl } = inspectedSystemCalls
  const refused = Object.values(refusedSystemCalls)
    .flatMap((group): (readonly [number, number | null])[] => Object.values(group))
    .map((numbers) => numbers[index])
    .filter((number) => number !== null)
  const anyArgument = bigInt({ min: 0n, max: 2n ** 64n - 1n })

  test('fits the kernel: at most 4096 whole instructions, each jump forward and inside', () => {
    expect(filter.length % 8).toBe(0)
    expect(filter.length / 8).toBeLessThanOrEqual(4096)
    // The machine throws on any other jump, instruction or end; every path is walked by the tests below.
    expect(run(0)).toEqual(allow)
  })

  test('comes to its decision about a call without rules within 20 instructions', () => {
    const steps = Array.from({ length: 600 }, (_, number) => walk(number).steps)
    expect(Math.max(...steps)).toBeLessThanOrEqual(20)
  })

  test('refuses each listed call, whatever its arguments', () => {
    assert(
      property(constantFrom(...refused), array(anyArgument, { maxLength: 6 }), (number, args) => {
        expect(run(number, args)).toEqual(refuse)
      }),
    )
  })

  test('allows each call that is not listed', () => {
    const listed = new Set<number>([
      ...refused,
      ...Object.values(inspectedSystemCalls).map((numbers) => numbers[index]),
    ])
    const others = Array.from({ length: 600 }, (_, number) => number).filter(
      (number) => !listed.has(number),
    )
    expect(others.filter((number) => run(number).action !== 'allow')).toEqual([])
  })

  test('kills a call of any other architecture', () => {
    assert(
      property(nat({ max: 0xffff_ffff }), nat(1000), (other, number) => {
        pre(other !== auditArchitecture[architecture])
        expect(runFilter(filter, { number, architecture: other, args: [] }).decision).toEqual({
          action: 'kill',
        })
      }),
    )
  })

  test('refuses exactly the namespace flags of clone and unshare', () => {
    const cloneFlags = 0x7e02_0000n
    assert(
      property(anyArgument, (flags) => {
        expect(run(clone[index], [flags])).toEqual((flags & cloneFlags) === 0n ? allow : refuse)
        expect(run(unshare[index], [flags])).toEqual(
          (flags & (cloneFlags | 0x80n)) === 0n ? allow : refuse,
        )
      }),
    )
    // What fork, posix_spawn and pthread_create pass.
    for (const flags of [0x11n, 0x4111n, 0x3d_0f00n])
      expect(run(clone[index], [flags])).toEqual(allow)
    expect(run(clone3[index], [1n, 88n])).toEqual(unknownCall)
  })

  test('refuses exactly the set-user-ID bit of a mode that counts, whatever stands elsewhere', () => {
    const calls = Object.values(modeCalls).filter(({ numbers }) => numbers[index] !== null)
    const anyArguments = array(anyArgument, { minLength: 6, maxLength: 6 })
    assert(
      property(constantFrom(...calls), anyArguments, ({ numbers, mode, flags }, args) => {
        const counts = flags === null || ((args[flags] ?? 0n) & 0x40_0040n) !== 0n
        const planted = counts && ((args[mode] ?? 0n) & 0o4000n) !== 0n
        expect(run(numbers[index] ?? -1, args)).toEqual(planted ? refuse : allow)
      }),
      { numRuns: 1000 },
    )
    expect(run(openat2[index], [0n, 0n, 0n, 24n])).toEqual(unknownCall)
  })

  test('lets sockets be of four families only, whatever stands in the unused half', () => {
    assert(
      property(nat(60), nat(0xffff_ffff), (family, high) => {
        const argument = (BigInt(high) << 32n) | BigInt(family)
        const expected = [1, 2, 10, 16].includes(family) ? allow : unknownFamily
        expect(run(socket[index], [argument])).toEqual(expected)
        expect(run(socketpair[index], [argument])).toEqual(expected)
      }),
    )
  })

  test('refuses the two requests that type into a terminal, whatever stands in the unused half', () => {
    assert(
      property(constantFrom(0x5412, 0x541c, 0x5401, 0x5413), nat(0xffff_ffff), (request, high) => {
        const expected = [0x5412, 0x541c].includes(request) ? refuse : allow
        expect(run(ioctl[index], [3n, (BigInt(high) << 32n) | BigInt(request)])).toEqual(expected)
      }),
    )
  })
})

describe('systemCallFilter', () => {
  test('knows no call of the x32 interface', () => {
    const architecture = auditArchitecture.x64
    for (const number of [0x4000_0000, 0x4000_0209, 0xffff_ffff]) {
      const { decision } = runFilter(systemCallFilter('x64'), { number, architecture, args: [] })
      expect(decision).toEqual(unknownCall)
    }
  })

  // What this machine's C library headers say; both files come with every Debian compiler.
  const headers = [
    { name: 'x64', header: '/usr/include/x86_64-linux-gnu/asm/unistd_64.h', index: 0 },
    { name: 'arm64', header: '/usr/include/asm-generic/unistd.h', index: 1 },
  ] as const
  for (const { header } of headers.filter((entry) => !existsSync(entry.header))) {
    process.stderr.write(`SKIPPED system call numbers: no ${header}\n`)
  }

  test.each(headers.filter(({ header }) => existsSync(header)))(
    "has the kernel's own numbers for $name",
    ({ header, index }) => {
      const defined = readFileSync(header, 'utf8').matchAll(/^#define __NR(?:3264)?_(\w+) (\d+)$/gm)
      const numbers = new Map(Array.from(defined, ([, name, number]) => [name, Number(number)]))
      const modes = Object.entries(modeCalls).map(([name, call]) => [name, call.numbers] as const)
      const groups = [
        inspectedSystemCalls,
        Object.fromEntries(modes),
        ...Object.values(refusedSystemCalls),
      ]
      const own = groups.flatMap((group): [string, SystemCallNumbers][] => Object.entries(group))
      // A header older than a call, or of an architecture that never had it, says nothing about it.
      const known = own.filter(([name, both]) => both[index] !== null && numbers.has(name))
      expect(known.map(([name, both]) => [name, both[index]])).toEqual(
        known.map(([name]) => [name, numbers.get(name)]),
      )
      expect(known.length).toBeGreaterThan(40)
    },
  )
})

describe('hasSystemCallFilter', () => {
  test('is true for the two architectures with numbers, and for no property of an object', () => {
    const names = ['x64', 'arm64', 'ia32', 'arm', 's390x', 'toString', '__proto__']
    expect(names.filter(hasSystemCallFilter)).toEqual(['x64', 'arm64'])
  })
})
