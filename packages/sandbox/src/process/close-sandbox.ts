import type { RunSettings } from './run-settings.ts'

/** Something outside the root that a sandbox has made. */
export interface Leftover {
  remove(): Promise<void>
}

/** A function of its own: what it returns must not refer to the settings, which would then never be collected. */
function leftoversOf(
  { backend, egress, rootDir }: RunSettings,
  surroundings: Leftover,
): readonly Leftover[] {
  return [
    surroundings,
    { remove: async () => egress?.close() },
    { remove: async () => backend.release?.(rootDir) },
  ]
}

/** Returns what closes a sandbox, and sees to it that one that was forgotten leaves nothing behind. */
export function sandboxCloser(settings: RunSettings, surroundings: Leftover): () => Promise<void> {
  const { commands, files } = settings
  const leftovers = leftoversOf(settings, surroundings)
  forgotten.register(settings, leftovers, commands)
  const release = (): Promise<void> => {
    files.close()
    return removeAll(leftovers)
  }
  const close = (): Promise<void> => {
    forgotten.unregister(commands)
    const ended = commands.end()
    // To judge and to undo what a command has changed, the root has to be open.
    return commands.isRunning ? ended.then(release) : release()
  }
  let closing: Promise<void> | undefined
  return () => (closing ??= close())
}

const forgotten = new FinalizationRegistry<readonly Leftover[]>((leftovers) => {
  void removeAll(leftovers)
})

async function removeAll(leftovers: readonly Leftover[]): Promise<void> {
  await Promise.all(leftovers.map((leftover) => leftover.remove()))
}
