/** Which variables a command gets: an allow-list of the parent's, the names in `pass`, and `set` on top. */
export interface EnvironmentOptions {
  /** More names to take from the parent's environment; a trailing `*` matches any ending. */
  readonly pass?: readonly string[] | undefined
  /** Variables with a value of your own; they win over inherited ones. */
  readonly set?: Readonly<Record<string, string>> | undefined
}

/**
 * What a toolchain needs to work and what holds no secret by convention. Everything else of the parent stays with the
 * parent: API keys live in the environment of agents.
 */
const allowed = new Set([
  'PATH',
  'HOME',
  'USER',
  'LOGNAME',
  'SHELL',
  'LANG',
  'LANGUAGE',
  'TZ',
  'TERM',
  'COLORTERM',
  'COLUMNS',
  'LINES',
  'NO_COLOR',
  'FORCE_COLOR',
  'TMPDIR',
  'CI',
  'EDITOR',
  'PAGER',
  'NODE_ENV',
  'SOURCE_DATE_EPOCH',
])
const allowedPrefixes = ['LC_']
/** Two variables that contradict each other: with both, Node prints a warning into the command's output. */
const oppositeOf: Readonly<Record<string, string>> = {
  NO_COLOR: 'FORCE_COLOR',
  FORCE_COLOR: 'NO_COLOR',
}

/**
 * The environment of a command: `options.set` over what is inherited. A colour variable that is set keeps its opposite
 * from being inherited.
 *
 * *Guarantees*: a variable of the parent that is neither allow-listed nor named in `pass` is not in the result.
 * *Does not protect against* a secret inside an allow-listed variable.
 */
export function commandEnvironment(
  options: EnvironmentOptions,
  parent: Readonly<Record<string, string | undefined>> = process.env,
): Record<string, string> {
  const { pass = [], set = {} } = options
  const names = new Set(pass.filter((name) => !name.endsWith('*')))
  const prefixes = [
    ...allowedPrefixes,
    ...pass.filter((name) => name.endsWith('*')).map((name) => name.slice(0, -1)),
  ]
  const environment: Record<string, string> = {}
  for (const [name, value] of Object.entries(parent)) {
    if (value === undefined) continue
    if (
      allowed.has(name) ||
      names.has(name) ||
      prefixes.some((prefix) => name.startsWith(prefix))
    ) {
      environment[name] = value
    }
  }
  for (const [name, value] of Object.entries(set)) {
    const opposite = oppositeOf[name]
    if (opposite && value && !pass.includes(opposite)) delete environment[opposite]
  }
  return Object.assign(environment, set)
}
