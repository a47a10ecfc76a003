/** What a command under our isolation is compared with: `bwrap` as one would write it by hand, and at its barest. */
export interface BareBubblewrap {
  /**
   * The yardstick: every namespace, no capability, the whole disk read-only, and what programs cannot do without: their
   * own `/proc` and `/dev`, a private `/tmp`, a root that they may write.
   */
  readonly usable: readonly string[]
  /** Every namespace and the whole disk read-only; without `/dev`, `/proc` and `/tmp`, so only the simplest programs run. */
  readonly barest: readonly string[]
}

/** Arguments of `bwrap` that run `true` with `rootDir` as the place to write. */
export function bareBubblewrap(rootDir: string): BareBubblewrap {
  const namespaces = [
    ['--unshare-user', '--unshare-pid', '--unshare-net', '--unshare-ipc', '--unshare-uts'],
    ['--unshare-cgroup-try'],
  ].flat()
  return {
    usable: [
      namespaces,
      ['--disable-userns', '--die-with-parent', '--new-session', '--cap-drop', 'ALL'],
      ['--clearenv', '--setenv', 'PATH', '/usr/bin:/bin'],
      ['--ro-bind', '/', '/', '--dev', '/dev', '--proc', '/proc', '--tmpfs', '/tmp'],
      ['--bind', rootDir, rootDir, '--chdir', rootDir, '--', 'true'],
    ].flat(),
    barest: [...namespaces, '--ro-bind', '/', '/', '--', 'true'],
  }
}

/** The commands themselves, to be printed beside the figures. */
export function printBareBubblewrap(rootDir: string): void {
  const { usable, barest } = bareBubblewrap(rootDir)
  const shown = (args: readonly string[]): string => args.join(' ').replaceAll(rootDir, 'ROOT')
  console.log(`bwrap, usable: bwrap ${shown(usable)}`)
  console.log(`bwrap, barest: bwrap ${shown(barest)}`)
}
