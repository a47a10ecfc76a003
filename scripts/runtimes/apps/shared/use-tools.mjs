import { createBuiltinTools } from '@smithers/builtin-tools'
import { createSqliteLog } from '@smithers/log-sqlite'
import { createToolRun, defineTool, isSmithersError } from '@smithers/tool-core'
import { z } from 'zod'
import { makeCalls } from './make-calls.mjs'

/** Imports the packages as an app does, which is what a bundler sees. */
export function useTools() {
  return makeCalls({
    createBuiltinTools,
    createSqliteLog,
    createToolRun,
    defineTool,
    isSmithersError,
    z,
  })
}
