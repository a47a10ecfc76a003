import { execFileSync } from 'node:child_process'
import {
  chmodSync,
  chownSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { type Confinement, describeConfined } from '../fixtures/confinement.ts'

/**
 * Two threads: one calls chmod on a path, again and again, the other exchanges what the path means: in memory (mode
 * "memory") or by a link in the root (mode "link"). Prints how often the call succeeded.
 */
const source = `
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
static char path[256];
static const char *inside, *outside;
static volatile int done;
static int by_link;
static void *exchange(void *unused) {
  while (!done) {
    if (by_link) {
      unlink("spare"); symlink(outside, "spare"); rename("spare", "name");
      unlink("spare"); symlink(inside, "spare"); rename("spare", "name");
    } else { memcpy(path, outside, strlen(outside) + 1); memcpy(path, inside, strlen(inside) + 1); }
  }
  return unused;
}
int main(int count, char **arguments) {
  pthread_t thread; long succeeded = 0, rounds = atol(arguments[4]);
  inside = arguments[2]; outside = arguments[3]; by_link = arguments[1][0] == 'l';
  strcpy(path, by_link ? "name" : inside);
  if (by_link) symlink(inside, "name");
  pthread_create(&thread, 0, exchange, 0);
  for (long round = 0; round < rounds; round++) succeeded += fchmodat(AT_FDCWD, path, 0777, 0) == 0;
  done = 1; pthread_join(thread, 0);
  printf("%ld\\n", succeeded); return count == 5 ? 0 : 1;
}
`

function attacker(): string {
  const directory = mkdtempSync(join(tmpdir(), 'smithers-race-'))
  afterAll(() => rmSync(directory, { recursive: true, force: true }))
  chmodSync(directory, 0o755)
  writeFileSync(join(directory, 'race.c'), source)
  execFileSync('gcc', ['-O1', '-pthread', '-o', join(directory, 'race'), join(directory, 'race.c')])
  return join(directory, 'race')
}

function scene(confinement: Confinement, program: string): { root: string; outside: string } {
  const [root, beside] = [confinement.directory(), confinement.directory()]
  const { uid, gid } = statSync(root)
  chmodSync(beside, 0o755)
  mkdirSync(join(root, 'in'))
  writeFileSync(join(root, 'in/file'), '')
  writeFileSync(join(root, 'race'), readFileSync(program))
  chmodSync(join(root, 'race'), 0o755)
  const outside = join(beside, 'file')
  writeFileSync(outside, '')
  chmodSync(outside, 0o600)
  for (const file of ['in', 'in/file', 'race']) chownSync(join(root, file), uid, gid)
  chownSync(outside, uid, gid)
  symlinkSync(outside, join(root, 'beside'))
  return { root, outside }
}

describeConfined(
  'a path that changes while its call is judged',
  (confinement) => {
    const program = attacker()
    // As many as a suite can spare; both kinds together are above 100 000 for both users.
    const rounds = 30_000

    test.each(['memory', 'link'])(
      'changes nothing outside by exchanges of the %s',
      async (kind) => {
        const { root, outside } = scene(confinement, program)
        const argv = ['./race', kind, join(root, 'in/file'), outside, String(rounds)] as const
        // The calls were judged while the path changed: some were allowed, and some refused. On a busy machine one
        // thread can be done before the other is let on the processor: on until they met.
        for (let hasMet = false; !hasMet;) {
          const { status, stdout, stderr } = await confinement.run(root, argv)
          expect([status, stderr]).toEqual([0, ''])
          expect(stdout).toMatch(/^\d+\n$/)
          expect(statSync(outside).mode & 0o777).toBe(0o600)
          hasMet = Number(stdout) > 0 && Number(stdout) < rounds
        }
      },
    )

    test.each(['memory', 'link'])(
      'breaches at once by exchanges of the %s without a judge',
      async (kind) => {
        const { root, outside } = scene(confinement, program)
        const argv = ['./race', kind, join(root, 'in/file'), outside, '100000'] as const
        const mode = (): number => statSync(outside).mode & 0o777
        // On until the thread that exchanges was on the processor meanwhile; usually the first breaches.
        while (mode() === 0o600) await confinement.run(root, argv, { landlock: { vets: false } })
        expect(mode()).toBe(0o777)
      },
    )
  },
  ['landlock'],
)
