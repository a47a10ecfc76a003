import { logConformance, runLogConformance } from '@smithers/log-conformance'
import type { ConformanceResult, LogConformanceOptions } from '@smithers/log-conformance'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { jsonLinesConformance } from './fixtures/json-lines-conformance.ts'
import {
  createRemoteLog,
  remoteCapabilities,
  type RemoteFault,
  startRemoteServer,
} from './fixtures/remote-log.ts'

let server: Awaited<ReturnType<typeof startRemoteServer>>
beforeAll(async () => {
  server = await startRemoteServer()
})
afterAll(() => server.close())

const mutants: readonly (RemoteFault & { readonly does: string; readonly foundBy: RegExp[] })[] = [
  {
    does: 'sends a statement again as if it were a new one',
    nextId: (id) => `${id} again`,
    foundBy: [/the start of a call whose answer is lost/, /the end of a call whose answer is lost/],
  },
  {
    does: 'answers that all went well when the connection breaks',
    guess: (method) => goodAnswers[method] ?? true,
    foundBy: [/the start of a call that is lost on its way/, /a decision that is lost on its way/],
  },
  {
    does: 'answers that others were first when the connection breaks',
    guess: (method) => badAnswers[method] ?? false,
    foundBy: [/the start of a call whose answer is lost/, /a decision whose answer is lost/],
  },
  {
    does: 'waits for an answer for ever',
    patienceMs: Infinity,
    foundBy: [/over a connection that is frozen/],
  },
  {
    does: 'says that nothing was stored when it cannot know',
    effect: 'none',
    foundBy: [/without a connection/, /over a connection that is frozen/],
  },
  {
    does: 'never connects again',
    connectsAgain: false,
    foundBy: [/without a connection/, /over a connection that is frozen/],
  },
]

const goodAnswers: Readonly<Record<string, unknown>> = {
  start: { ok: true },
  finish: 'ok',
  recover: 1,
  prune: 3,
  list: [],
  'runs.claim': { ok: true },
  'runs.finishAttempt': 'ok',
}

const badAnswers: Readonly<Record<string, unknown>> = {
  ...goodAnswers,
  start: { ok: false, reason: 'seq-taken' },
  finish: 'fenced',
  'runs.finishAttempt': 'lost',
}

describe('runLogConformance, of a log that reaches its storage over a network', () => {
  it('passes the sound log from which the mutants are made', async () => {
    const results = await runLogConformance(optionsOf({}))
    expect(results.filter(({ outcome }) => outcome === 'failed')).toEqual([])
    expect(namesOf(results, 'passed').length).toBeGreaterThan(15)
  })

  it.each(mutants)('finds a log that $does', async ({ foundBy, ...fault }) => {
    const results = await runLogConformance(optionsOf(fault))
    const failed = namesOf(results, 'failed')
    for (const name of foundBy) expect(failed).toContainEqual(expect.stringMatching(name))
  })

  it('does not pass where the statements do not go over the connection that breaks', async () => {
    const options = optionsOf({})
    const network = {
      server,
      openThrough: (_: number, location: string) => options.createLog(location),
    }
    const failed = namesOf(await runLogConformance({ ...options, network }), 'failed')
    expect(failed).toContain(
      'the start of a call whose answer is lost is there once, and no answer denies it',
    )
  })
})

const otherGroups: string[] = []
logConformance(
  {
    describe(title, define) {
      if (/^\d/.test(title) && title !== '22 connection') otherGroups.push(title)
      define()
    },
    it: Object.assign(() => {}, { skip: () => {} }),
  },
  { ...jsonLinesConformance, skip: [] },
)

/** Only the log whose connection breaks has the fault. */
function optionsOf(fault: RemoteFault): LogConformanceOptions {
  const reason = 'this file is about connections'
  return {
    name: 'remote',
    capabilities: remoteCapabilities,
    createLog: (location) => createRemoteLog(server.port, location),
    network: {
      server,
      openThrough: (port, location) => createRemoteLog(port, location, fault),
      longestWaitMs: 5000,
    },
    schema: { skip: 'rows in memory have no stored schema' },
    failures: { skip: 'memory has no disk' },
    skip: otherGroups.map((test) => ({ test, reason })),
  }
}

function namesOf(results: readonly ConformanceResult[], outcome: 'passed' | 'failed'): string[] {
  return results
    .filter((result) => result.group === '22 connection' && result.outcome === outcome)
    .map(({ test }) => test)
}
