import { chmodSync, lstatSync, mkdirSync, readdirSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { describeConfined } from '../fixtures/confinement.ts'

/** Tries each call that can set a mode, each on a file of its own, named after the call. */
const program = `
import ctypes, os
libc = ctypes.CDLL(None, use_errno=True)
arm = os.uname().machine == "aarch64"
AT_FDCWD, O_CREAT, O_RDWR, O_TMPFILE = -100, 0o100, 2, 0o20000000 | (0o40000 if arm else 0o200000)
def call(numbers, *args):
    number = numbers[1 if arm else 0]
    return -1 if number is None else libc.syscall(number, *args)
def file(name):
    open(name, "w").close()
    return name.encode()
os.umask(0)
call((90, None), file("chmod"), 0o4755)
call((91, 52), os.open(file("fchmod"), os.O_RDONLY), 0o4755)
call((268, 53), AT_FDCWD, file("fchmodat"), 0o4755)
call((452, 452), AT_FDCWD, file("fchmodat2"), 0o4755, 0)
call((90, None), file("wide"), ctypes.c_ulong((1 << 40) | 0o4755))
call((2, None), b"open", O_CREAT | O_RDWR, 0o4755)
call((257, 56), AT_FDCWD, b"openat", O_CREAT | O_RDWR, 0o4755)
call((85, None), b"creat", 0o4755)
call((133, None), b"mknod", 0o104755, 0)
call((259, 33), AT_FDCWD, b"mknodat", 0o104755, 0)
how = (ctypes.c_uint64 * 3)(O_CREAT | O_RDWR, 0o4755, 0)
call((437, 437), AT_FDCWD, b"openat2", how, 24)
unnamed = call((257, 56), AT_FDCWD, b".", O_TMPFILE | O_RDWR, 0o4755)
AT_SYMLINK_FOLLOW = 0x400
if unnamed >= 0: libc.linkat(AT_FDCWD, b"/proc/self/fd/%d" % unnamed, AT_FDCWD, b"unnamed", AT_SYMLINK_FOLLOW)
os.system("cp /usr/bin/id id && chmod u+s id; install -m 4755 /usr/bin/id installed; tar --mode=4755 -cf a.tar id; mkdir t; tar -xpf a.tar -C t; cp -p t/id extracted")
`

describeConfined('a set-user-ID file', (confinement) => {
  const planted = (rootDir: string): string[] =>
    readdirSync(rootDir, { recursive: true, encoding: 'utf8' })
      .filter((name) => (lstatSync(join(rootDir, name)).mode & 0o4000) !== 0)
      .toSorted()
  const python = ['/usr/bin/python3', '-c', program] as const

  test('cannot be planted in the root for others to run', async () => {
    const rootDir = confinement.directory()
    const { status, stderr } = await confinement.run(rootDir, python)
    expect({ status, stderr: stderr.replaceAll(/^(?:chmod|install|tar): .*\n/gm, '') }).toEqual({
      status: 0,
      stderr: '',
    })
    expect(readdirSync(rootDir)).toEqual(expect.arrayContaining(['chmod', 'id']))
    expect(planted(rootDir)).toEqual([])
  })

  test('is planted by the same attempts where nothing confines them', async () => {
    const rootDir = confinement.directory()
    await confinement.runFreely(rootDir, python)
    expect(planted(rootDir)).toEqual(
      expect.arrayContaining([
        'fchmod',
        'fchmodat',
        'id',
        'installed',
        'mknodat',
        'openat',
        't/id',
      ]),
    )
  })

  test('is the one mode refused: executables, shared directories and archives keep working', async () => {
    const rootDir = confinement.directory()
    const script = [
      'set -e',
      'printf "#!/bin/sh\\necho ran" > tool; chmod 0755 tool; ./tool',
      'mkdir -m 2775 shared; mkdir shared/below; chmod 775 shared/below; chmod +t shared',
      'git init -q --shared=group repository; git -C repository status --porcelain',
      'mkfifo pipe; tar -cf - tool shared | (mkdir copy; tar -xpf - -C copy); cp -a tool tool2; ./copy/tool',
    ].join('\n')
    const { status, stdout, stderr } = await confinement.run(rootDir, ['sh', '-c', script])
    expect({ status, stdout, stderr }).toEqual({ status: 0, stdout: 'ran\nran\n', stderr: '' })
    expect(statSync(join(rootDir, 'copy/shared')).mode & 0o7777).toBe(0o3775)
    expect(statSync(join(rootDir, 'repository/.git')).mode & 0o2000).toBe(0o2000)
  })

  test('that is there already can be read and run', async () => {
    const rootDir = confinement.directory()
    mkdirSync(join(rootDir, 'd'))
    writeFileSync(join(rootDir, 'd/old'), '#!/bin/sh\necho old\n')
    chmodSync(join(rootDir, 'd/old'), 0o4755)
    const { stdout, stderr } = await confinement.run(rootDir, ['sh', '-c', './d/old; cat d/old'])
    expect({ stdout, stderr }).toEqual({ stdout: 'old\n#!/bin/sh\necho old\n', stderr: '' })
  })
})
