import core = require('@smithers/tool-core')

const run = core.createToolRun({ runId: 'required' })
const signal: AbortSignal = run.abortSignal
export = signal
