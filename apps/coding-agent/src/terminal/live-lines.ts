import { createLogUpdate } from 'log-update'
import type { Terminal } from '@smithers/cli/src/terminal/terminal.ts'

/** Lines at the end of the output that are redrawn until they are final. */
export interface LiveLines {
  /** Shows a line under `id` until it ends. `render` is called for every redraw. */
  start(id: string, render: () => string): void
  /** Replaces the live line with a permanent one. */
  end(id: string, line: string): void
  /** Prints a line above the live ones. */
  line(text: string): void
  /**
   * Leaves the terminal to a question until the returned function is called. Output printed meanwhile appears
   * afterwards.
   */
  hold(): () => void
  /** Removes the live lines and restores the terminal. */
  stop(): void
}

const redrawMs = 100

/** On a terminal, running lines are redrawn in place. A file or a pipe gets each line once, when it is final. */
export function createLiveLines(terminal: Terminal): LiveLines {
  return terminal.stdout.isTTY === true ? redrawnLines(terminal) : finalLines(terminal)
}

function finalLines(terminal: Terminal): LiveLines {
  return {
    start() {},
    end: (_id, line) => terminal.line(line),
    line: (text) => terminal.line(text),
    // A question needs a terminal.
    hold: () => () => {},
    stop() {},
  }
}

function redrawnLines(terminal: Terminal): LiveLines {
  const screen = createLogUpdate(terminal.stdout, { showCursor: true })
  const running = new Map<string, () => string>()
  let timer: NodeJS.Timeout | undefined
  /** Output printed while a question has the terminal; undefined otherwise. */
  let waiting: string[] | undefined
  const redraw = (): void => {
    if (waiting !== undefined) return
    if (running.size === 0) screen.clear()
    else screen(Array.from(running.values(), (render) => render()).join('\n'))
  }
  // Not the library's `persist`, which breaks long lines in the middle of a word.
  const print = (text: string): void => {
    if (waiting !== undefined) {
      waiting.push(text)
      return
    }
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
    hold() {
      screen.clear()
      // The next redraw starts at the cursor, wherever the question leaves it.
      screen.done()
      waiting = []
      return () => {
        const texts = waiting ?? []
        waiting = undefined
        for (const text of texts) terminal.line(text)
        redraw()
      }
    },
    stop() {
      pause()
      running.clear()
      screen.clear()
      screen.done()
    },
  }
}
