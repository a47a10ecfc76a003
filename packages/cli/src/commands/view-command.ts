import { isSmithersError } from '@smithers/tool-core'
import type { Command } from 'commander'
import { badInput } from '../errors/command-failure.ts'
import { errorCodes } from '../errors/error-codes.ts'
import { logPathOf } from '../log/log-path.ts'
import { isPostgres, shownLog } from '../log/log-target.ts'
import { type OpenLog, openExistingLog } from '../log/open-log.ts'
import { openInBrowser } from '../terminal/open-in-browser.ts'
import type { ProgramSurroundings } from '../terminal/terminal.ts'
import { logOption } from './log-option.ts'

interface ViewOptions {
  readonly log?: string
  readonly port: number
  readonly host: string
  readonly decide?: true
  readonly open?: true
  readonly text?: true
  readonly follow?: true
}

/** Adds `smithers view`: shows a log as a page, or a run as text. */
export function addViewCommand(program: Command, surroundings: ProgramSurroundings): void {
  program
    .command('view')
    .summary('show runs and calls in a browser')
    .description(
      'Serves a page over a log on this machine alone and prints its address, which holds a secret: who has it can read the log. Ctrl-C ends it.',
    )
    .argument('[run]', 'with --text: the id of a run (default: the newest)')
    .addOption(logOption())
    .option('--port <n>', 'the port of the page (default: a free one)', portNumber, 0)
    .option('--host <host>', 'the name in its address: 127.0.0.1, ::1 or localhost', '127.0.0.1')
    .option('--decide', 'let approvals be decided in the page')
    .option('--open', 'open the page in your browser')
    .option('--text', 'print the timeline of one run instead')
    .option('--follow', 'with --text: then print calls as they start and end, until Ctrl-C')
    .addHelpText(
      'after',
      `
Examples:
  smithers view --open
  smithers view --decide
  smithers view --text --follow`,
    )
    .action((run: string | undefined, options: ViewOptions) => view(run, options, surroundings))
}

async function view(
  run: string | undefined,
  options: ViewOptions,
  surroundings: ProgramSurroundings,
): Promise<void> {
  if (options.text && options.open) throw badInput('--open goes without --text.')
  if (!options.text) {
    const [unused] = [run !== undefined && 'RUN', options.follow && '--follow'].filter(Boolean)
    if (unused !== undefined) throw badInput(`${String(unused)} goes with --text.`)
  }
  const target = logPathOf(options.log)
  const log = await openExistingLog(target)
  try {
    if (options.text) await printText(log, run, options, surroundings)
    else await serve(log, target, options, surroundings)
  } finally {
    await log.close()
  }
}

async function printText(
  log: OpenLog,
  runId: string | undefined,
  { follow }: ViewOptions,
  { terminal, interrupted }: ProgramSurroundings,
): Promise<void> {
  const { followTimeline, printTimeline } = await import('@smithers/log-viewer')
  const { columns } = terminal.stdout
  const timeline = { log, runId, write: terminal.line, width: columns, errorTexts: errorCodes }
  try {
    await (follow ? followTimeline({ ...timeline, signal: interrupted }) : printTimeline(timeline))
  } catch (error) {
    if (isSmithersError(error) && error.code === 'INVALID_INPUT')
      throw badInput(error.message, error)
    throw error
  }
}

async function serve(
  log: OpenLog,
  target: string,
  { port, host, decide, open }: ViewOptions,
  { terminal, interrupted }: ProgramSurroundings,
): Promise<void> {
  const { serveViewer } = await import('@smithers/log-viewer')
  const viewer = await serveViewer({
    log,
    port,
    host,
    decide: decide === true,
    title: shownLog(target),
    errorTexts: errorCodes,
    // The address of a database may hold a password, so it is left out of what can be copied.
    ...(!isPostgres(target) && { logArgument: target }),
  })
  let closePage: (() => void) | undefined
  try {
    terminal.line(viewer.url)
    terminal.note(
      decide
        ? `Shows ${shownLog(target)} and decides approvals. Ctrl-C ends it.`
        : `Shows ${shownLog(target)}; --decide lets approvals be decided. Ctrl-C ends it.`,
    )
    if (open) {
      closePage = openInBrowser(viewer.url, (reason) => {
        terminal.note(`No browser could be opened (${reason}). Open the address above.`)
      })
    }
    await ended(interrupted)
  } finally {
    closePage?.()
    await viewer.close()
  }
}

async function ended(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return
  await new Promise<void>((resolve) => {
    signal.addEventListener('abort', () => resolve(), { once: true })
  })
}

function portNumber(text: string): number {
  const port = Number(text)
  if (/^\d+$/.test(text) && port <= 65_535) return port
  throw badInput(`--port takes a number from 0 to 65535, not ${JSON.stringify(text)}.`)
}
