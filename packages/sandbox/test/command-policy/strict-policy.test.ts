import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { checkStrictPolicy } from '../../src/command-policy/strict-policy.ts'

type Argv = readonly [string, ...string[]]
const sh = (script: string): Argv => ['sh', '-lc', script]

const s2Executables =
  'curl wget ssh scp sftp ftp telnet nc netcat ping traceroute dig nslookup nmap openssl npm bun pip pip3 pnpm yarn apt apt-get brew cargo go gem hg svn powershell pwsh'

const refusedArguments = [
  'http://x',
  'wss://x',
  'ssh://git.x',
  'see ftp://x',
  'www.example.com',
  'git@host:x.git',
  '192.168.1.1',
  '192.168.1.1:8080',
  '10.0.0.1/path',
  'root@10.0.0.1',
  '--host=10.0.0.1',
  '[::1]:80',
  'fe80::1',
  '--proxy',
  'https_proxy=x',
]

const refused: readonly Argv[] = [
  ['env', 'curl', 'x'],
  ['env', '-i', 'A=1', '-u', 'B', 'C=2', '/usr/bin/wget', 'x'],
  ['env', '-S', 'curl x'],
  ['timeout', '-k', '5', '10', 'curl', 'x'],
  ['timeout', '--signal=KILL', '10', 'git', 'push'],
  ['nice', '-n', '5', 'curl'],
  ['nohup', 'setsid', 'stdbuf', '-oL', 'curl'],
  ['xargs', '-n', '1', 'curl'],
  ['xargs', '-I{}', 'sh', '-c', 'curl {}'],
  ['xargs', 'git'],
  ['sudo', '-u', 'x', 'curl'],
  ['find', '.', '-name', 'x', '-exec', 'curl', '{}', ';'],
  ['find', '.', '-execdir', 'sh', '-c', 'wget x', ';'],
  ['busybox', 'wget', 'x'],
  ['watch', 'ls'],
  ['bash', '--norc', '-o', 'pipefail', '-ec', 'curl x'],
  ['sh'],
  ['bash', '-s'],
  sh('curl x'),
  sh('true && curl x'),
  sh('if true; then wget x; fi'),
  sh('echo $(curl x)'),
  sh('echo `curl x`'),
  sh('cat <(curl x)'),
  sh('f() { curl x; }; f'),
  sh('c"ur"l x'),
  sh('\\curl x'),
  sh("$'cu\\x72l' x"),
  sh('c=curl; $c x'),
  sh('"$CMD" x'),
  sh('/usr/bin/cur? x'),
  sh('{cu,}rl x'),
  sh('eval "curl x"'),
  sh('eval "$x"'),
  sh('command curl x'),
  sh('exec -a ls curl x'),
  sh('env "$X" y'),
  sh('echo curl x | sh'),
  sh('sh <<EOF\ncurl x\nEOF'),
  sh('bash -c "sh -c \'curl x\'"'),
  sh('exec 3<>/dev/tcp/localhost/80'),
  sh('echo x > /dev/tcp/$host/80'),
  sh('echo x > $target'),
  sh('git -C x push'),
  sh('git $sub'),
  sh('trap "curl x" EXIT'),
  sh('if true; then'),
  sh('echo "unfinished'),
  sh('X=$(wget x) true'),
  sh('[[ -n $(curl x) ]]'),
  sh('((a=$(curl x)))'),
  sh('coproc curl x'),
]

const passed: readonly Argv[] = [
  ['ls', 'bundle'],
  ['cat', 'pipeline.txt'],
  ['echo', 'pippin'],
  ['git', 'status'],
  ['git', 'log', '--grep=fetch'],
  ['git', 'commit', '-m', 'fetch upstream'],
  ['git', 'stash', 'push'],
  ['node', '--test'],
  ['python3', '-m', 'pytest', '-q'],
  ['make', 'test'],
  ['timeout', '5', 'ls', 'curl'],
  ['env', 'A=1', 'node', '--test'],
  ['xargs', 'grep', 'npm'],
  ['find', '.', '-name', '*.ts', '-exec', 'wc', '-l', '{}', '+'],
  ['echo', '1.2.3'],
  ['echo', '12:30:05'],
  ['echo', 'std::string'],
  ['sh', 'build.sh'],
  sh('node --test 2>&1 | tail -n 20'),
  sh('for f in *.ts; do wc -l "$f"; done'),
  sh('git commit -m "$MESSAGE"'),
  sh('grep -c curl notes.txt > out.txt'),
  sh('cat > out.txt <<EOF\ncurl is a word here\nEOF'),
  sh('test -f x && echo yes || echo no > /dev/null'),
  sh('echo "$HOME" > "out-$USER.txt"'),
]

describe('checkStrictPolicy', () => {
  test.each(s2Executables.split(' '))('refuses %s by its name', (name) => {
    expect(checkStrictPolicy([name, 'x'])).toMatchObject({ rule: 'executable' })
    expect(checkStrictPolicy([`/opt/bin/${name}`])).toMatchObject({ rule: 'executable' })
  })

  test.each(refusedArguments)('refuses the argument %s', (argument) => {
    expect(checkStrictPolicy(['echo', argument])).toMatchObject({ code: 'TOOL_NETWORK_DISABLED' })
  })

  test.each(refused.map((argv) => [argv.join(' '), argv] as const))('refuses: %s', (_, argv) => {
    expect(checkStrictPolicy(argv)).not.toBeNull()
  })

  test.each(passed.map((argv) => [argv.join(' '), argv] as const))(
    'lets through: %s',
    (_, argv) => {
      expect(checkStrictPolicy(argv)).toBeNull()
    },
  )

  test.each(['\'"$(', '$(', '((', '{ ', 'if '])(
    'refuses what is nested beyond reading: %s',
    (opening) => {
      expect(checkStrictPolicy(['sh', '-c', opening.repeat(20_000)])).toMatchObject({
        code: 'TOOL_NETWORK_DISABLED',
        rule: 'unreadable',
      })
    },
  )

  test('reads each command of a find once, however deeply nested', () => {
    // Doubling the work with each would never end.
    const nested = Array.from({ length: 200 }, () => ['-exec', 'find', '.']).flat()
    expect(checkStrictPolicy(['find', '.', ...nested, ';'])).toMatchObject({ rule: 'unreadable' })
    expect(
      checkStrictPolicy(['find', '.', '-exec', 'ls', ';', '-exec', 'curl', 'x', ';']),
    ).not.toBeNull()
  })

  test('keeps the code for git, also inside a shell', () => {
    expect(checkStrictPolicy(sh('cd x && git push'))).toMatchObject({
      code: 'TOOL_GIT_REMOTE_DISABLED',
    })
  })

  test('finds a command behind any nesting of wrappers and shells, or refuses to read it', () => {
    const layers = [
      (argv: readonly string[]) => ['env', 'A=1', ...argv],
      (argv: readonly string[]) => ['timeout', '-k', '1', '9', ...argv],
      (argv: readonly string[]) => ['nice', ...argv],
      (argv: readonly string[]) => ['sh', '-c', quote(argv)],
      (argv: readonly string[]) => ['bash', '-ec', `true; ( ${quote(argv)} ) | cat`],
      (argv: readonly string[]) => ['find', '.', '-exec', ...argv, ';'],
    ]
    fc.assert(
      fc.property(fc.array(fc.constantFrom(...layers), { maxLength: 12 }), (chosen) => {
        const argv = chosen.reduce<readonly string[]>((inner, layer) => layer(inner), ['curl', 'x'])
        expect(checkStrictPolicy(argv as unknown as Argv)).not.toBeNull()
      }),
    )
  })
})

function quote(words: readonly string[]): string {
  return words.map((word) => `'${word.replaceAll("'", `'\\''`)}'`).join(' ')
}
