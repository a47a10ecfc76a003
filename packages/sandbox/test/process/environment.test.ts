import { describe, expect, test } from 'vitest'
import { commandEnvironment } from '../../src/process/environment.ts'

const parent = {
  PATH: '/bin',
  HOME: '/home/x',
  LC_TIME: 'C',
  OPENAI_API_KEY: 'secret',
  AWS_SECRET_ACCESS_KEY: 'secret',
  NPM_TOKEN: 'secret',
  NODE_OPTIONS: '--require ./x.js',
  LD_PRELOAD: 'x.so',
  BASH_ENV: 'x.sh',
  GIT_SSH_COMMAND: 'x',
  MY_A: 'a',
  MY_B: 'b',
}

describe('commandEnvironment', () => {
  test('takes from the parent what is on the list and nothing else', () => {
    expect(commandEnvironment({}, parent)).toEqual({
      PATH: '/bin',
      HOME: '/home/x',
      LC_TIME: 'C',
    })
  })

  test('takes what pass names, a trailing star matching any ending', () => {
    expect(commandEnvironment({ pass: ['NPM_TOKEN', 'MY_*'] }, parent)).toMatchObject({
      NPM_TOKEN: 'secret',
      MY_A: 'a',
      MY_B: 'b',
    })
    expect(commandEnvironment({ pass: ['MY_*'] }, parent)).not.toHaveProperty('NPM_TOKEN')
  })

  test('puts set over what was inherited', () => {
    expect(commandEnvironment({ set: { PATH: '/opt/bin', X: '1' } }, parent)).toMatchObject({
      PATH: '/opt/bin',
      X: '1',
    })
  })

  test('inherits no colour variable whose opposite is set, unless pass names it', () => {
    const coloured = { PATH: '/bin', FORCE_COLOR: '1' }
    const set = { NO_COLOR: '1' }
    expect(commandEnvironment({ set }, coloured)).toEqual({ PATH: '/bin', NO_COLOR: '1' })
    expect(commandEnvironment({ set: { FORCE_COLOR: '0' } }, { NO_COLOR: '1' })).toEqual({
      FORCE_COLOR: '0',
    })
    expect(commandEnvironment({ set, pass: ['FORCE_COLOR'] }, coloured)).toHaveProperty(
      'FORCE_COLOR',
    )
    expect(commandEnvironment({ set: { X: '1' } }, coloured)).toHaveProperty('FORCE_COLOR')
  })
})
