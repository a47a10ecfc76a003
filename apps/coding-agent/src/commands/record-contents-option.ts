import { Option } from 'commander'

/** The option of commands that run tools: what of files the log keeps. */
export function recordContentsOption(): Option {
  return new Option(
    '--record-contents',
    'keep the patches of writes and edits in the log, for "smithers show"',
  )
}
