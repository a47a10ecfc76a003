import { array, assert, bigInt, constantFrom, integer, property } from 'fast-check'
import { describe, expect, test } from 'vitest'
import {
  refusedSystemCalls,
  auditArchitecture,
} from '../../../src/isolation/bubblewrap/seccomp-table.ts'
import {
  connectCall,
  fcntlCall,
  metadataCalls,
  newerMetadataCalls,
  priorityCalls,
  sharedObjectCalls,
  signalCalls,
  steeringCalls,
  strangersCalls,
  truncateCall,
} from '../../../src/isolation/confine/call-numbers.ts'
import {
  landlockFilter,
  type LandlockFilterOptions,
} from '../../../src/isolation/confine/landlock-filter.ts'
import { type FilterDecision, runFilter } from '../../fixtures/filter-machine.ts'

const architectures = ['x64', 'arm64'] as const
const allow = { action: 'allow' }
const vet = { action: 'vet' }
const errno = (number: number) => ({ action: 'errno', errno: number })
const [EPERM, EACCES, ENOSYS, EAFNOSUPPORT] = [1, 13, 38, 97] as const
const [unix, inet, netlink, packet] = [1n, 2n, 16n, 17n] as const
const [stream, datagram, raw, seqpacket] = [1n, 2n, 3n, 5n] as const
const nonblocking = 0o4000n

describe.each(architectures)('landlockFilter for %s', (architecture) => {
  const index = architecture === 'x64' ? 0 : 1
  type Numbers = readonly [number, number | null]
  const decide = (
    options: Partial<LandlockFilterOptions>,
    numbers: Numbers,
    ...args: readonly bigint[]
  ): FilterDecision | null => {
    const number = numbers[index]
    if (number === null) return null
    const filter = landlockFilter({
      architecture,
      version: 7,
      vets: true,
      network: 'none',
      ...options,
    })
    return runFilter(filter, { number, architecture: auditArchitecture[architecture], args })
      .decision
  }
  const each = (
    calls: Readonly<Record<string, Numbers>>,
    options: Partial<LandlockFilterOptions>,
    ...args: readonly bigint[]
  ): unknown[] => {
    const found = Object.values(calls).map((numbers) => decide(options, numbers, ...args))
    return [
      ...new Set(found.filter((decision) => decision !== null).map((one) => JSON.stringify(one))),
    ].map((one) => JSON.parse(one) as unknown)
  }
  const socket: Numbers = [41, 198]
  const socketpair: Numbers = [53, 199]

  test('hands every change of metadata to the supervisor, on all versions', () => {
    for (let version = 1; version <= 9; version += 1) {
      expect(each(metadataCalls, { version })).toEqual([vet])
      expect(each(newerMetadataCalls, { version })).toEqual([errno(EPERM)])
    }
  })

  test('allows changes of metadata where no supervisor judges them, but no set-user-ID bit', () => {
    expect(each(metadataCalls, { vets: false }, 0n, 0o644n, 0o644n)).toEqual([allow])
    const chmods = { fchmod: metadataCalls['fchmod']!, fchmodat: metadataCalls['fchmodat']! }
    expect(each(chmods, { vets: false }, 0n, 0o4755n, 0o4755n)).toEqual([errno(EPERM)])
  })

  test.each([
    [1, vet],
    [2, vet],
    [3, allow],
    [7, allow],
  ])('decides about truncate as version %i needs it', (version, expected) => {
    expect(decide({ version }, truncateCall)).toEqual(expected)
    if (expected === vet) {
      expect(decide({ version, vets: false }, truncateCall)).toEqual(errno(EPERM))
    }
  })

  test('refuses before version 3 to truncate a file that is opened for reading', () => {
    const openat: Numbers = [257, 56]
    const [readOnly, writeOnly, truncating] = [0n, 1n, 0o1000n]
    expect(decide({ version: 2 }, openat, 0n, 0n, readOnly | truncating)).toEqual(errno(EPERM))
    expect(decide({ version: 2 }, openat, 0n, 0n, writeOnly | truncating)).toEqual(allow)
    expect(decide({ version: 3 }, openat, 0n, 0n, readOnly | truncating)).toEqual(allow)
  })

  test('hands signals to the supervisor until the kernel has a scope for them in version 6', () => {
    for (let version = 1; version <= 5; version += 1) {
      expect(each(signalCalls, { version }, 1234n, 9n)).toEqual([vet])
      expect(each(signalCalls, { version, vets: false }, 1234n, 9n)).toEqual([errno(EPERM)])
      for (const setOwner of [8n, 10n, 15n]) {
        expect(decide({ version }, fcntlCall, 3n, setOwner)).toEqual(errno(EPERM))
      }
    }
    expect(each(signalCalls, { version: 6 }, 1234n, 9n)).toEqual([allow])
    expect(decide({ version: 6 }, fcntlCall, 3n, 8n)).toEqual(allow)
  })

  test('hands connections to the supervisor until version 9, and refuses them where none judges', () => {
    expect(decide({ version: 8 }, connectCall)).toEqual(vet)
    expect(decide({ version: 9 }, connectCall)).toEqual(allow)
    expect(decide({ version: 8, vets: false }, connectCall)).toEqual(errno(EACCES))
    expect(decide({ version: 8, network: 'host' }, connectCall)).toEqual(allow)
  })

  test('lets a command steer itself, and asks about others', () => {
    for (const { numbers, process } of Object.values(steeringCalls)) {
      const args = (pid: bigint) =>
        Array.from({ length: 4 }, (_, at) => (at === process ? pid : 5n))
      expect(decide({}, numbers, ...args(0n))).toEqual(allow)
      expect(decide({}, numbers, ...args(1234n))).toEqual(vet)
      expect(decide({ vets: false }, numbers, ...args(1234n))).toEqual(errno(EPERM))
    }
    for (const { numbers, user } of Object.values(priorityCalls)) {
      expect(decide({}, numbers, 0n, 0n)).toEqual(allow)
      expect(decide({}, numbers, 0n, 1234n)).toEqual(vet)
      expect(decide({}, numbers, BigInt(user), 0n)).toEqual(errno(EPERM))
    }
  })

  // The supervisor refuses what it is handed here, and remembers that it was tried.
  test.each([
    ['leaves the refusal of', true, vet, vet],
    ['refuses', false, errno(EACCES), errno(ENOSYS)],
  ] as const)(
    '%s all but connected unix sockets and of shared objects without a network',
    (_, vets, noSocket, noObject) => {
      for (const numbers of [socket, socketpair]) {
        for (const kind of [stream, seqpacket, stream | nonblocking]) {
          expect(decide({ vets }, numbers, unix, kind)).toEqual(allow)
        }
        for (const kind of [datagram, raw]) {
          expect(decide({ vets }, numbers, unix, kind)).toEqual(noSocket)
        }
        expect(decide({ vets }, numbers, inet, stream)).toEqual(noSocket)
        expect(decide({ vets }, numbers, packet, raw)).toEqual(noSocket)
        expect(decide({ vets }, numbers, netlink, raw)).toEqual(errno(ENOSYS))
      }
      expect(each(sharedObjectCalls, { vets })).toEqual([noObject])
    },
  )

  test('allows internet sockets with the network of the host, and unix ones from version 9 on', () => {
    const network = 'host'
    for (const kind of [stream, datagram]) {
      expect(decide({ network }, socket, inet, kind)).toEqual(allow)
    }
    for (const [vets, refused] of [
      [true, vet],
      [false, errno(EACCES)],
    ] as const) {
      const options = { network, vets } as const
      expect(decide(options, socket, unix, stream)).toEqual(refused)
      expect(decide({ ...options, version: 9 }, socket, unix, stream)).toEqual(allow)
      expect(decide({ ...options, version: 9 }, socket, unix, datagram)).toEqual(refused)
    }
    expect(decide({ network }, socket, netlink, raw, 0n)).toEqual(allow)
    expect(decide({ network }, socket, netlink, raw, 16n)).toEqual(errno(EACCES))
    expect(decide({ network }, socket, packet, raw)).toEqual(errno(EAFNOSUPPORT))
  })

  test('refuses calls that reach into processes of the machine', () => {
    expect(each(strangersCalls, {})).toEqual([errno(EPERM)])
  })

  test('keeps every refusal of all filters, whatever the version, judge and arguments', () => {
    const refused = Object.values(refusedSystemCalls).flatMap((group) => Object.values(group))
    const anyArgument = bigInt({ min: 0n, max: 2n ** 64n - 1n })
    assert(
      property(
        integer({ min: 1, max: 9 }),
        constantFrom(true, false),
        constantFrom('none' as const, 'host' as const),
        constantFrom(...refused),
        array(anyArgument, { maxLength: 6 }),
        (version, vets, network, numbers, args) => {
          const decision = decide({ version, vets, network }, numbers, ...args)
          expect(decision ?? errno(EPERM)).toEqual(errno(EPERM))
        },
      ),
    )
  })
})
