#!/usr/bin/env -S node --disable-warning=ExperimentalWarning
import packageJson from '../package.json' with { type: 'json' }
import { createProgram } from './program.ts'
import { runProcess } from './run-process.ts'

await runProcess(packageJson.version, createProgram)
