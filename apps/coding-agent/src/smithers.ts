#!/usr/bin/env -S node --conditions=@smithers/source --disable-warning=ExperimentalWarning
import { runProcess } from '@smithers/cli'
import packageJson from '../package.json' with { type: 'json' }
import { createAppProgram } from './program.ts'

await runProcess(packageJson.version, createAppProgram)
