import type { SmithersErrorCode } from '@smithers/tool-core'

/** An error code for people. */
export interface ErrorEntry {
  readonly meaning: string
  /** What to do next. */
  readonly advice: string
}

function entry(meaning: string, advice: string): ErrorEntry {
  return { meaning, advice }
}

/** Every code that an error of these packages can carry. */
export const errorCodes: Readonly<Record<SmithersErrorCode, ErrorEntry>> = {
  INVALID_INPUT: entry(
    'An option, or the arguments of a call, are wrong; a root directory is missing. The tool did not run.',
    'The message names the value and what is expected.',
  ),
  INVALID_TOOL: entry('The definition of a tool is wrong.', 'The message names the option.'),
  TOOL_NOT_FOUND: entry('The model called an unknown tool.', 'Give the agent that tool.'),
  TOOL_PATH_INVALID: entry(
    'A path is empty or too long, has a NUL byte, or leads below a file.',
    'Use another path.',
  ),
  TOOL_PATH_ESCAPE: entry(
    'A path, or a link on it, leads out of the root. Nothing outside was touched.',
    'Use a path below the root.',
  ),
  TOOL_PATH_DENIED: entry(
    'A rule forbids the path: deny, protect or maxLinks.',
    'The message names the rule and the option that changes it.',
  ),
  TOOL_FILE_NOT_FOUND: entry('Nothing exists at the path.', 'Check the spelling.'),
  TOOL_NOT_A_FILE: entry('The path is a directory, pipe, socket or device.', 'Use another path.'),
  TOOL_FILE_TOO_LARGE: entry(
    'The file, or the lines that were asked for, exceed the limit.',
    'Read a part with offset and limit, or raise maxOutputBytes.',
  ),
  TOOL_FILE_NOT_TEXT: entry('The file is not valid UTF-8.', 'Work on it with a command.'),
  TOOL_CONTENT_TOO_LARGE: entry(
    'The content to write, or the result of a change, exceeds the limit.',
    'Write less at a time, or raise maxOutputBytes.',
  ),
  TOOL_FILE_CHANGED: entry(
    'Another program changed the file between reading and replacing it. It was left as it is.',
    'Read it again and repeat the change.',
  ),
  TOOL_FILE_FAILED: entry('The operating system refused.', 'See details.errno in the error.'),
  TOOL_PATCH_TOO_LARGE: entry('The patch exceeds the limit.', 'Split it into several edits.'),
  TOOL_PATCH_FAILED: entry(
    'The patch does not fit the file, which is unchanged.',
    'The message names the hunk. A run with recordContents keeps the patch: "smithers show" prints it.',
  ),
  TOOL_PATCH_ALREADY_APPLIED: entry('The file has the new text already.', 'Nothing is left to do.'),
  TOOL_REPLACE_FAILED: entry(
    'The text to replace is missing, or occurs several times. The file is unchanged.',
    'The message shows where it occurs.',
  ),
  TOOL_GREP_FAILED: entry('ripgrep is missing or cannot read the pattern.', 'See the message.'),
  TOOL_GLOB_FAILED: entry('ripgrep was ended by a signal.', 'Call the tool again.'),
  TOOL_COMMAND_FAILED: entry(
    'A command ran and ended with another exit code than 0, or by a signal.',
    'The message has its output. Its effects stand.',
  ),
  TOOL_SPAWN_FAILED: entry(
    'The command or its working directory does not exist or cannot be used. Nothing ran.',
    'Check both names.',
  ),
  TOOL_TIMEOUT: entry(
    'The time was up. A command was killed with everything it started; its effect is unknown.',
    'Raise the time limit, or give the call less to do.',
  ),
  TOOL_ABORTED: entry('The run was stopped.', 'Make the next attempt of the run.'),
  TOOL_NETWORK_DISABLED: entry(
    'A command wanted the network, which is off. It was not started.',
    'Work offline, or allow its hosts with --allow-host.',
  ),
  TOOL_GIT_REMOTE_DISABLED: entry(
    'A git command wanted a remote while the network is off. It was not started.',
    'Work offline, or allow its host with --allow-host.',
  ),
  TOOL_ISOLATION_UNAVAILABLE: entry(
    'A property of the sandbox that is required does not work on this machine.',
    '"smithers doctor" says what is missing and what to install.',
  ),
  TOOL_ISOLATION_LOST: entry(
    'What confined commands is gone since the sandbox was created. Nothing ran.',
    'Create the sandbox again; "smithers doctor" says what works.',
  ),
  TOOL_ROOT_CHANGED: entry(
    'The root directory was replaced by another one.',
    'Start a new run in the directory that is meant.',
  ),
  TOOL_CLOSED: entry('The run, or the bundle of the tool, was closed.', 'Make the next attempt.'),
  RUNTIME_UNSUPPORTED: entry('This runtime cannot keep the guarantees.', 'Use Node 22 or newer.'),
  TOOL_LIMIT_REACHED: entry('The tool ran as often as it may.', 'Go on without it.'),
  TOOL_CIRCUIT_OPEN: entry('The tool failed too often and is paused.', 'Wait, then call it again.'),
  TOOL_APPROVAL_REQUIRED: entry(
    'The call waits for a decision. Nothing has failed; the run pauses.',
    '"smithers approvals" lists it; "smithers approve" or "smithers reject" decides.',
  ),
  TOOL_APPROVAL_REJECTED: entry(
    'The approver said no, or the request has expired. The tool did not run.',
    'The agent reads the comment.',
  ),
  TOOL_APPROVAL_NOT_FOUND: entry('No approval has this id.', '"smithers approvals" lists them.'),
  TOOL_APPROVAL_DECIDED: entry(
    'The approval was decided otherwise already.',
    'A decision is final.',
  ),
  TOOL_STATE_CONFLICT: entry(
    'Two calls changed the same value of the run at once.',
    'Read it again and repeat the change.',
  ),
  TOOL_FAILED: entry('The tool threw an error without a code.', 'See the message.'),
  TOOL_CALL_IN_PROGRESS: entry('Another worker runs this very call.', 'Wait for it.'),
  TOOL_CALL_FENCED: entry('Another worker took the call over.', 'Stop this attempt.'),
  TOOL_CALL_BLOCKED: entry(
    'An earlier call with this key may have taken effect, so it was not repeated.',
    'Check outside. If it must run, allow its key: `run.allow(key)`, or `allow: [key]` of `runWorkflow`.',
  ),
  TOOL_OUTCOME_UNKNOWN: entry(
    'The process ended between the start of the call and its record: the effect may have happened.',
    'Look it up outside by the key of the call; "smithers show" prints it.',
  ),
  TOOL_INTERRUPTED: entry(
    'The output of the call was abandoned before its end; its effect is unknown.',
    'Check outside before you repeat it.',
  ),
  TOOL_LOG_UNAVAILABLE: entry(
    'The log failed where going on without it is not safe.',
    'See details.reason; repair the log and make the next attempt.',
  ),
  TOOL_INPUT_NOT_CANONICAL: entry(
    'Arguments such as class instances cannot be hashed, so the call has no key.',
    'Give the tool a key of its own.',
  ),
  WORKFLOW_INVALID: entry('The workflow, or a recorded value, is wrong.', 'Correct it, resume.'),
  WORKFLOW_CHANGED: entry(
    'The files of the workflow are not those that the run began with.',
    'Look at the changes; resume with --accept-changed-workflow if they are yours.',
  ),
  WORKFLOW_RUN_BUSY: entry('Another process works on the run.', 'Wait, or stop that process.'),
  WORKFLOW_RUN_LOST: entry('Another process took the run over.', 'The run continues there.'),
  WORKFLOW_STOPPED: entry('The run was stopped from outside.', 'Resume it.'),
  TASK_FAILED: entry('Every attempt failed, or a loop did not end.', 'See the cause, then resume.'),
  TASK_OUTPUT_INVALID: entry(
    'The output of a task does not match its schema, or is not plain JSON.',
    'Change the prompt or the schema, resume.',
  ),
  TASK_TIMEOUT: entry('An attempt of a task took too long.', 'Raise timeoutMs, resume.'),
}

/** The entry of a code; undefined for an unknown one. */
export function errorEntry(code: string): ErrorEntry | undefined {
  return Object.hasOwn(errorCodes, code) ? errorCodes[code as SmithersErrorCode] : undefined
}
