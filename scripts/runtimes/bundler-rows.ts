import { readFileSync, renameSync } from 'node:fs'
import { join } from 'node:path'
import { assertExpected } from './expected-output.ts'
import type { Row } from './row.ts'
import { answerOf } from './server-answer.ts'
import type { Workshop } from './workshop.ts'

type Command = readonly [string, ...string[]]

const start: Command = ['next', 'start', '--hostname', '127.0.0.1', '--port', '0']

/** Next with one of its bundlers: by `next start`, and from the files alone that Next has traced. */
const nextRow = (bundler: 'turbopack' | 'webpack', title: string): Row => {
  const build: Command = ['next', 'build', `--${bundler}`]
  return {
    name: `next-${bundler}`,
    command: `${build.join(' ')} && next start`,
    async check(workshop) {
      await workshop.run({ app: 'next', command: build })
      await assertExpected(
        workshop,
        'main.mjs',
        await answerOf(workshop, { app: 'next', command: start }, '/check'),
      )
      const standalone = `next-${bundler}-standalone`
      await workshop.moveOut('next', '.next/standalone', standalone)
      await assertExpected(
        workshop,
        'main.mjs',
        await answerOf(workshop, { app: standalone, command: ['node', 'server.js'] }, '/check'),
      )
      return {
        what: `Next ${await versionOf(workshop, 'next', 'next')} with ${title}`,
        result: 'builds; works by `next start`, and as `output: standalone` moved elsewhere',
      }
    },
  }
}

/** An app without any configuration: what is bundled then keeps out of the way of native programs by itself. */
const nextWithoutConfiguration: Row = {
  name: 'next-bundled',
  command: 'rm next.config.mjs && next build && next start',
  async check(workshop) {
    const config = join(await workshop.app('next'), 'next.config.mjs')
    renameSync(config, `${config}.away`)
    try {
      await workshop.run({ app: 'next', command: ['next', 'build'] })
      const printed = await answerOf(workshop, { app: 'next', command: start }, '/check')
      await assertExpected(workshop, 'main.mjs', printed)
    } finally {
      renameSync(`${config}.away`, config)
    }
    return {
      what: `Next ${await versionOf(workshop, 'next', 'next')} without configuration`,
      result: 'builds; works by `next start`',
    }
  },
}

interface Bundle {
  readonly name: string
  readonly title: string
  readonly app: string
  readonly build: Command
  readonly run: Command
  /** What the command line and the configuration leave external. */
  readonly externals: string
}

const external = ['@smithers/builtin-tools', '@smithers/log-sqlite'] as const
const bundles: readonly Bundle[] = [
  {
    name: 'vite',
    title: 'Vite',
    app: 'vite',
    build: ['vite', 'build', '--ssr', 'main.mjs'],
    run: ['node', 'dist/main.js'],
    externals: 'every dependency external, as Vite does by itself',
  },
  {
    name: 'vite-no-external',
    title: 'Vite',
    app: 'vite',
    build: ['vite', 'build', '--ssr', 'main.mjs', '--config', 'no-external.config.mjs'],
    run: ['node', 'dist/main.js'],
    externals: '`noExternal: true`, the two packages external',
  },
  {
    name: 'webpack',
    title: 'webpack',
    app: 'webpack',
    build: ['webpack'],
    run: ['node', 'dist/main.mjs'],
    externals: 'the two packages external',
  },
  {
    name: 'esbuild',
    title: 'esbuild',
    app: 'esbuild',
    build: [
      ...(['esbuild', 'main.mjs', '--bundle', '--platform=node', '--format=esm'] as const),
      ...external.map((name) => `--external:${name}`),
      '--outfile=dist/main.mjs',
    ],
    run: ['node', 'dist/main.mjs'],
    externals: 'the two packages external',
  },
]

const bundleRow = ({ name, title, app, build, run, externals }: Bundle): Row => ({
  name,
  command: `${build.join(' ')} && ${run.join(' ')}`,
  async check(workshop) {
    await workshop.run({ app, command: build })
    await assertExpected(workshop, 'main.mjs', await workshop.run({ app, command: run }))
    return {
      what: `${title} ${await versionOf(workshop, app, app)}`,
      result: `builds; the bundle works; ${externals}`,
    }
  },
})

async function versionOf(workshop: Workshop, app: string, name: string): Promise<string> {
  const file = join(await workshop.app(app), 'node_modules', name, 'package.json')
  return (JSON.parse(readFileSync(file, 'utf8')) as { version: string }).version
}

/** Bundlers, each with an app that it builds and that is then run. */
export const bundlerRows: readonly Row[] = [
  nextRow('turbopack', 'Turbopack'),
  nextRow('webpack', 'webpack'),
  nextWithoutConfiguration,
  ...bundles.map(bundleRow),
]
