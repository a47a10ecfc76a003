import { createLogUpdate } from 'log-update'
import type { Terminal } from './terminal.ts'

/** Lines at the end of the output that are redrawn until they are final. */
export interface LiveLines {
  /** Shows a line under `id` until it ends; `render` is asked again for every redraw. */
  start(id: string, render: () => string): void
  /** Replaces the live line by one that stays. */
  end(id: string, line: string): void
  /** Prints a line above the live ones. */
  line(text: string): void
  /** Leaves the terminal as an ordinary program would. */
  stop(): void
}

const redrawMs = 100

/** On a terminal running lines are redrawn in place; a file or a pipe gets each line once, when it is final. */
export function createLiveLines(terminal: Terminal): LiveLines {
  return terminal.stdout.isTTY === true ? redrawnLines(terminal) : finalLines(terminal)
}

function finalLines(terminal: Terminal): LiveLines {
  return {
    start() {},
    end: (_id, line) => terminal.line(line),
    line: (text) => terminal.line(text),
    stop() {},
  }
}

function redrawnLines(terminal: Terminal): LiveLines {
  const screen = createLogUpdate(terminal.stdout, { showCursor: true })
  const running = new Map<string, () => string>()
  let timer: NodeJS.Timeout | undefined
  const redraw = (): void => {
    if (running.size === 0) screen.clear()
    else screen(Array.from(running.values(), (render) => render()).join('\n'))
  }
  // Not the library's `persist`, which breaks a long line where the terminal ends, in the middle of a word.
  const print = (text: string): void => {
    screen.clear()
    terminal.line(text)
    redraw()
  }
  const pause = (): void => {
    clearInterval(timer)
    timer = undefined
  }
  return {
    start(id, render) {
      running.set(id, render)
      timer ??= setInterval(redraw, redrawMs).unref()
      redraw()
    },
    end(id, line) {
      running.delete(id)
      if (running.size === 0) pause()
      print(line)
    },
    line(text) {
      print(text)
    },
    stop() {
      pause()
      running.clear()
      screen.clear()
      screen.done()
    },
  }
}
