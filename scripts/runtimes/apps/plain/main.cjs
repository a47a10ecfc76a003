const { createBuiltinTools } = require('@smithers/builtin-tools')
const { createSqliteLog } = require('@smithers/log-sqlite')
const { createToolRun, defineTool, isSmithersError } = require('@smithers/tool-core')
const { z } = require('zod')
const { makeCalls } = require('./make-calls.mjs')

const packages = {
  createBuiltinTools,
  createSqliteLog,
  createToolRun,
  defineTool,
  isSmithersError,
  z,
}
makeCalls(packages).then((lines) => {
  for (const line of lines) console.log(line)
})
