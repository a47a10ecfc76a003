import type { Terminal, TerminalStream } from './terminal.ts'

/** What shows that a command still works. */
export interface WaitIndicator {
  /** Removes it for good. */
  stop(): void
}

/** How long nothing is printed before it shows, in milliseconds. */
const quietMs = 300

const frames = ['⠋', '⠙', '⠹', '⠸', '⠼', '⠴', '⠦', '⠧', '⠇', '⠏']
const newline = 0x0a
const eraseLine = '\r\u001B[2K'

/**
 * Shows on stderr that a command works, whenever nothing was printed for 300 ms: only where both streams are terminals,
 * never with `--json`,
 * `--follow`, `view` or `worker`, which wait for others, and not while a question waits for its answer or a line is unfinished. Gone
 * before the next output. It keeps no process alive.
 */
export function showWaiting(terminal: Terminal, args: readonly string[]): WaitIndicator {
  const { stdout, stderr } = terminal
  const end = args.indexOf('--')
  const own = end === -1 ? args : args.slice(0, end)
  const waitsForOthers = own[0] === 'view' || own[0] === 'worker' || own.includes('--follow')
  if (own.includes('--json') || waitsForOthers || stdout.isTTY !== true || stderr.isTTY !== true)
    return { stop() {} }
  let isShown = false
  let endsLine = true
  let frame = 0
  let timer: NodeJS.Timeout
  const restart = (): void => {
    clearTimeout(timer)
    timer = setTimeout(tick, quietMs).unref()
  }
  const erase = (): void => {
    if (isShown) write(eraseLine)
    isShown = false
  }
  const restores = [stdout, stderr].map((stream) =>
    beforeWrites(stream, (chunk) => {
      erase()
      endsLine = chunk.at(-1) === '\n' || chunk.at(-1) === newline
      restart()
    }),
  )
  const writeError = restores[1]?.original ?? (() => true)
  const write = (text: string): void => void Reflect.apply(writeError, stderr, [text])
  const tick = (): void => {
    if (!endsLine || process.stdin.isRaw) return restart()
    isShown = true
    write(`${eraseLine}${frames[frame % frames.length] ?? ''}`)
    frame += 1
    timer = setTimeout(tick, quietMs / 3).unref()
  }
  restart()
  return {
    stop() {
      clearTimeout(timer)
      erase()
      for (const { restore } of restores) restore()
    },
  }
}

type Write = TerminalStream['write']

/** Calls a function before everything that is written to a stream, until it is restored. */
function beforeWrites(
  stream: TerminalStream,
  before: (chunk: string | Uint8Array) => void,
): { readonly original: Write; readonly restore: () => void } {
  // Called with its stream.
  // oxlint-disable-next-line typescript/unbound-method
  const original = stream.write
  const own = Object.getOwnPropertyDescriptor(stream, 'write')
  stream.write = ((...args: Parameters<Write>) => {
    before(args[0] as string | Uint8Array)
    return original.apply(stream, args)
  }) as Write
  return {
    original,
    restore() {
      if (own === undefined) Reflect.deleteProperty(stream, 'write')
      else Object.defineProperty(stream, 'write', own)
    },
  }
}
