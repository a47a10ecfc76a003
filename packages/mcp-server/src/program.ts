#!/usr/bin/env node
import { keepCompiledCode } from './cli/compile-cache.ts'
import { runProgram } from './cli/run-mcp-server.ts'

process.exitCode = await runProgram(process.argv.slice(2), keepCompiledCode)
// A tool may have left a timer or a socket.
process.exit()
