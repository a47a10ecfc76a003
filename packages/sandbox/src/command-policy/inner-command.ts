import { basename } from './command-policy.ts'

/** A command that another command runs. */
export type InnerCommand =
  | { readonly kind: 'command'; readonly argv: readonly [string, ...string[]] }
  | { readonly kind: 'script'; readonly source: string }
  | { readonly kind: 'unreadable'; readonly why: string }

/** The options of a program that runs another one. Unlisted options cannot be read, so the command is refused. */
interface Wrapper {
  /** Options with a value: the rest of the argument, or the next one. */
  readonly values: string
  /** Options without a value. */
  readonly flags: string
  readonly longValues?: readonly string[]
  /** Number of the wrapper's own arguments before the command. */
  readonly operands?: number
  /** `NAME=value` may precede the command. */
  readonly assignments?: boolean
  /** Adds arguments that are only known when it runs. */
  readonly appends?: boolean
}

const wrappers: Readonly<Record<string, Wrapper>> = {
  env: { values: 'uC', flags: 'i0v', longValues: ['unset', 'chdir'], assignments: true },
  timeout: { values: 'ks', flags: 'vpf', longValues: ['kill-after', 'signal'], operands: 1 },
  nice: { values: 'n', flags: '0123456789', longValues: ['adjustment'] },
  ionice: { values: 'cn', flags: 't', longValues: ['class', 'classdata'] },
  chrt: { values: 'TPD', flags: 'abdfiormv', operands: 1 },
  taskset: { values: '', flags: 'ac', operands: 1 },
  nohup: { values: '', flags: '' },
  setsid: { values: '', flags: 'cfw' },
  stdbuf: { values: 'ioe', flags: '', longValues: ['input', 'output', 'error'] },
  time: { values: 'fo', flags: 'apqvV', longValues: ['format', 'output'] },
  sudo: { values: 'ugUpChDRrtT', flags: 'bEeHnPSikKAsv', assignments: true },
  doas: { values: 'uC', flags: 'nsL' },
  command: { values: '', flags: 'pvV' },
  builtin: { values: '', flags: '' },
  exec: { values: 'a', flags: 'cl' },
  xargs: {
    appends: true,
    values: 'aEIILnPsd',
    flags: '0oprtxi',
    longValues: [
      'arg-file',
      'delimiter',
      'max-args',
      'max-procs',
      'max-lines',
      'max-chars',
      'replace',
      'eof',
    ],
  },
  busybox: { values: '', flags: '' },
  toybox: { values: '', flags: '' },
  catchsegv: { values: '', flags: '' },
  unbuffer: { values: '', flags: 'p' },
  faketime: { values: 'f', flags: 'm', operands: 1 },
  strace: { values: 'abeEIoOpPsSuX', flags: 'ACcdDfFhikqrtTvVwxyYzZ' },
  flock: { values: 'wE', flags: 'senuoxF', operands: 1 },
}

const shells = new Set(['sh', 'bash', 'dash', 'ash', 'zsh', 'ksh', 'mksh', 'rbash', 'yash'])

/** Programs that run others and are too complex to read: refused under the strict policy. */
const opaque = new Set([
  'parallel',
  'watch',
  'script',
  'su',
  'runuser',
  'chroot',
  'unshare',
  'nsenter',
  'at',
  'batch',
  'crontab',
  'systemd-run',
  'start-stop-daemon',
  'fish',
  'csh',
  'tcsh',
])

/** The commands that `executable` would run with these arguments; none for a program that runs no other. */
export function readInnerCommand(
  executable: string,
  args: readonly string[],
): readonly InnerCommand[] {
  if (shells.has(executable)) return readShell(args)
  if (executable === 'eval') return [{ kind: 'script', source: args.join(' ') }]
  if (executable === 'trap') return args.length > 1 ? [{ kind: 'script', source: args[0]! }] : []
  if (executable === 'find') return readFind(args)
  // `command -v` looks a program up and runs nothing.
  if (executable === 'command' && /^-p?[vV]/u.test(args[0] ?? '')) return []
  if (opaque.has(executable))
    return [{ kind: 'unreadable', why: `"${executable}" runs other commands` }]
  const wrapper = Object.hasOwn(wrappers, executable) ? wrappers[executable] : undefined
  return wrapper === undefined ? [] : readWrapped(wrapper, args)
}

function readWrapped(wrapper: Wrapper, args: readonly string[]): readonly InnerCommand[] {
  let index = 0
  for (; index < args.length; index += 1) {
    const argument = args[index]!
    if (argument === '--') {
      index += 1
      break
    }
    if (wrapper.assignments === true && /^\w+=/.test(argument)) continue
    if (!argument.startsWith('-') || argument === '-') break
    const taken = valueOfOption(wrapper, argument)
    if (taken === undefined) {
      return [{ kind: 'unreadable', why: `its option "${argument}" is not known` }]
    }
    index += taken
  }
  if (wrapper.assignments === true) while (/^\w+=/.test(args[index] ?? '')) index += 1
  const [command, ...rest] = args.slice(index + (wrapper.operands ?? 0))
  if (command === undefined) return []
  const chosenByInput = wrapper.appends === true && rest.length === 0 && runsItsArguments(command)
  return chosenByInput
    ? [{ kind: 'unreadable', why: `"${command}" gets its arguments from the input` }]
    : [{ kind: 'command', argv: [command, ...rest] }]
}

function runsItsArguments(command: string): boolean {
  const name = basename(command)
  return name === 'git' || shells.has(name) || Object.hasOwn(wrappers, name)
}

/** How many of the following arguments belong to an option; `undefined` when the option is not known. */
function valueOfOption(wrapper: Wrapper, option: string): 0 | 1 | undefined {
  if (option.startsWith('--')) {
    if (option.includes('='))
      return wrapper.longValues?.includes(option.slice(2, option.indexOf('='))) === true
        ? 0
        : undefined
    if (wrapper.longValues?.includes(option.slice(2)) === true) return 1
    // A flag, except env's --split-string, which splits its value into a command.
    return option.startsWith('--split') ? undefined : 0
  }
  const letters = option.slice(1)
  for (const [position, letter] of letters.split('').entries()) {
    if (wrapper.values.includes(letter)) return position === letters.length - 1 ? 1 : 0
    if (!wrapper.flags.includes(letter)) return undefined
  }
  return 0
}

function readShell(args: readonly string[]): readonly InnerCommand[] {
  let reads = false
  for (let index = 0; index < args.length; index += 1) {
    const argument = args[index]!
    // `-O extglob`, `-o errexit`, `--rcfile file`: the next argument belongs to the option.
    if (/^[-+][a-zA-Z]*[oO]$/.test(argument) || /^--(?:rcfile|init-file)$/.test(argument)) {
      index += 1
    } else if (/^-[a-zA-Z]*c[a-zA-Z]*$/.test(argument)) {
      reads = true
    } else if (argument.startsWith('--') && argument !== '--') {
      continue
    } else if (/^[-+][a-zA-Z]+$/.test(argument)) {
      continue
    } else {
      const operand = argument === '--' || argument === '-' ? args[index + 1] : argument
      if (operand === undefined) break
      // Without -c the operand is a script file, treated like any other program.
      return reads ? [{ kind: 'script', source: operand }] : []
    }
  }
  return [{ kind: 'unreadable', why: 'a shell reads its commands from standard input' }]
}

function readFind(args: readonly string[]): readonly InnerCommand[] {
  const found: InnerCommand[] = []
  for (let index = 0; index < args.length; index += 1) {
    if (!/^-(?:exec|execdir|ok|okdir)$/.test(args[index]!)) continue
    const rest = args.slice(index + 1)
    const end = rest.findIndex((word) => word === ';' || word === '+')
    const [command, ...parameters] = end < 0 ? rest : rest.slice(0, end)
    if (command !== undefined) found.push({ kind: 'command', argv: [command, ...parameters] })
    // The words up to there belong to that command, including any `-exec`. Reading them again for each nested `find`
    // would double the work every time.
    index += end < 0 ? rest.length : end
  }
  return found
}
