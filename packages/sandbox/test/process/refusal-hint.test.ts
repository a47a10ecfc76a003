import { describe, expect, test } from 'vitest'
import { landlockConditions } from '../../src/isolation/confine/landlock-conditions.ts'
import { type RefusalFacts, refusalHint } from '../../src/process/refusal-hint.ts'
import { describeConfined } from '../fixtures/confinement.ts'
import { newSandbox } from '../fixtures/sandboxes.ts'

const { limitations } = landlockConditions(
  { network: 'none', denies: false, protects: false },
  { version: 7, vets: true },
)

function hint(output: string, facts: Partial<RefusalFacts> = {}): string | undefined {
  const none = { violations: [], limitations, met: [], rootDir: '/tmp/root' }
  return refusalHint({ ...none, isFiltered: true, isOffline: false, output, ...facts })
}

describe('refusalHint', () => {
  test.each([
    'npm error code ENOTCACHED',
    'Error: getaddrinfo EAI_AGAIN example.com',
    'curl: (6) Could not resolve host: example.com',
    'ERROR: No matching distribution found for requests',
    'connect: Network is unreachable',
  ])('says of %j that commands have no network, where that is enforced', (output) => {
    expect(hint(output, { isOffline: true })).toMatch(/commands have none here\. Work with what/)
    expect(hint(output)).toBeUndefined()
    expect(hint('1 test failed', { isOffline: true })).toBeUndefined()
  })

  test('says what a refused call was and where it is allowed', () => {
    const message = 'The command called chmod on /etc/x, which lies outside its root.'
    const violations = [{ rule: 'files', subject: '/etc/x', message }] as const
    expect(hint('chmod: changing permissions failed', { violations })).toBe(message)
  })

  test('names what is known to have been tried, if the output is about that', () => {
    const met = ['NO_LOOPBACK'] as const
    const refused = 'Error: listen EACCES: permission denied 127.0.0.1:3000'
    expect(hint(refused, { met })).toMatch(/servers and clients on 127\.0\.0\.1.*user namespaces/)
    expect(hint("curl: (7) Couldn't connect to server", { met })).toContain('the network')
    expect(hint(refused)).toBeUndefined()
    expect(hint('1 test failed: 2 is not 3', { met })).toBeUndefined()
    expect(hint(refused, { met, limitations: [] })).toBeUndefined()
  })

  test.each([
    ["touch: cannot touch '/tmp/x': Permission denied", '$TMPDIR'],
    ["EACCES: permission denied, mkdir '/var/tmp/x'", '$TMPDIR'],
    ['OSError: out of pty devices', 'terminal'],
    ["PermissionError: [Errno 13] Permission denied: '/dev/shm/sem.x'", 'shared memory'],
    ['==8==HINT: LeakSanitizer does not work under ptrace (strace, gdb, etc)', 'detect_leaks=0'],
    ['strace: test_ptrace_get: PTRACE_TRACEME: Operation not permitted', 'trace'],
    ['unshare: unshare failed: Operation not permitted', 'namespaces'],
    ['sudo: The "no new privileges" flag is set', 'sudo'],
    ['mount: /mnt: must be superuser to use mount.', 'mounts'],
  ])('recognises %s', (output, word) => {
    expect(hint(output)).toContain(word)
  })

  test.each([
    'cat: /tmp/root/secret: Permission denied',
    'cat: /tmp/smithers-process-a/x: Permission denied',
    'rm: cannot remove /tmp/x: No such file or directory',
    'mount of 3 items failed',
    'the namespace is missing',
  ])('has nothing to say of %s', (output) => {
    expect(hint(output)).toBeUndefined()
  })

  test('says nothing of a filter where none is loaded', () => {
    const output = 'unshare: unshare failed: Operation not permitted'
    expect(hint(output, { isFiltered: false })).toBeUndefined()
  })
})

describeConfined(
  'a command that fails since isolation refused a call',
  (confinement) => {
    const python = (program: string) => ['/usr/bin/python3', '-c', program]
    const refused: readonly (readonly [string, readonly string[], string])[] = [
      ['an internet socket', python('import socket; socket.socket()'), '127.0.0.1'],
      [
        'a datagram socket',
        python('import socket; socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)'),
        'datagram',
      ],
      ['/tmp', ['touch', '/tmp/smithers-hint'], '$TMPDIR'],
      ['a terminal', ['script', '-qc', 'true', '/dev/null'], 'terminal'],
      ['a mode outside', ['chmod', '700', confinement.home], 'chmod'],
    ]
    test.each(refused)('has a hint about %s', async (_, command, word) => {
      const [result] = await confinement.commands({ rootDir: confinement.directory() }, [command])
      expect(result?.hint).toContain(word)
    })

    test('has no hint when it did not fail', async () => {
      const program = 'import socket\ntry: socket.socket()\nexcept OSError as error: print(error)'
      const rootDir = confinement.directory()
      const [result] = await confinement.commands({ rootDir }, [python(program)])
      expect([result?.output, result?.hint]).toEqual(['[Errno 13] Permission denied\n', undefined])
    })
  },
  ['landlock'],
)

test('the filter of every backend has a hint for what it refuses', async ({ skip }) => {
  const sandbox = await newSandbox()
  skip(sandbox.report.enforced.syscalls !== 'enforced', 'no backend works on this machine')
  const failed = await sandbox.run('unshare', ['--user', 'true'])
  expect([failed.status, failed.hint]).toEqual(['exited', expect.stringContaining('namespaces')])
})
