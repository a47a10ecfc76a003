/**
 * The environment without what a package manager that runs this script told its own child: an inner one would take the
 * settings of this workspace for its own.
 */
export function outerEnvironment(
  more: Readonly<Record<string, string>> = {},
): Record<string, string> {
  const kept = Object.entries(process.env).filter(
    (entry): entry is [string, string] =>
      entry[1] !== undefined && !/^(npm_|pnpm_|NODE_OPTIONS$|INIT_CWD$|TURBO_)/i.test(entry[0]),
  )
  return { ...Object.fromEntries(kept), ...more }
}
