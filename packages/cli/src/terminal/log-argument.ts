import { isDefaultLog } from '../log/log-path.ts'
import { shownLog } from '../log/log-target.ts'
import { shellWord } from './shell-word.ts'

/**
 * The option that makes a printed command read this log; empty for the default log. A password is left out: it comes from
 * `PGPASSWORD`.
 */
export function logArgument(path: string): string {
  return isDefaultLog(path) ? '' : ` --log ${shellWord(shownLog(path))}`
}
