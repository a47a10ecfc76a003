/**
 * How long a benchmark measures: in full unless told; `--short`, as the report does; `--quick`, to see that it works,
 * with figures that say nothing.
 */
export type Effort = 'full' | 'short' | 'quick'

const given = process.argv.slice(2)

const effort: Effort = given.includes('--quick')
  ? 'quick'
  : given.includes('--short')
    ? 'short'
    : 'full'

/** The arguments of a benchmark without what says the effort. */
export const benchArguments: readonly string[] = given.filter(
  (argument) => argument !== '--quick' && argument !== '--short',
)

/** One of three values, by the effort. */
export function byEffort<Value>(values: Readonly<Record<Effort, Value>>): Value {
  return values[effort]
}

/** The command that a table is printed with: `pnpm bench NAME` and what the program was given. */
export function benchCommand(...words: readonly string[]): string {
  const flag = effort === 'full' ? [] : [`--${effort}`]
  return ['pnpm', 'bench', ...words, ...flag].join(' ')
}
