import { chmodSync, chownSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { type Confinement, describeConfined } from '../fixtures/confinement.ts'

/** Changes modes, owners, times and attributes of a file in every way that the system has, each by itself. */
const program = `
import ctypes, os, sys
libc = ctypes.CDLL(None, use_errno=True)
arm = os.uname().machine == "aarch64"
target, link = sys.argv[1], "link"
def raw(x64, arm64, *args):
    number = arm64 if arm else x64
    if number is not None: libc.syscall(ctypes.c_long(number), *args)
def quietly(action):
    try: action()
    except OSError: pass
AT_FDCWD, AT_EMPTY_PATH = -100, 0x1000
times = (ctypes.c_long * 4)(1, 0, 1, 0)
seconds = (ctypes.c_long * 2)(1, 1)
def held(path): return os.open(path, os.O_PATH)
for path in [target, link, os.path.relpath(target), "/proc/self/root" + target]:
    name = path.encode()
    quietly(lambda: os.chmod(path, 0o777))
    quietly(lambda: os.chown(path, -1, os.getgid()))
    quietly(lambda: os.utime(path, (1, 1)))
    quietly(lambda: os.setxattr(path, "user.smithers", b"x"))
    quietly(lambda: os.removexattr(path, "user.kept"))
    raw(90, None, name, 0o777)
    raw(452, 452, AT_FDCWD, name, 0o777, 0)
    raw(132, None, name, seconds)
    raw(235, None, name, times)
    raw(261, None, AT_FDCWD, name, times)
    raw(280, 88, AT_FDCWD, name, times, 0)
    raw(463, 463, AT_FDCWD, name, 0, b"user.smithers", times, 16)
descriptors = []
quietly(lambda: descriptors.append(held(target)))
quietly(lambda: descriptors.append(os.open(target, os.O_RDONLY)))
for descriptor in descriptors:
    raw(91, 52, descriptor, 0o777)
    raw(452, 452, descriptor, b"", 0o777, AT_EMPTY_PATH)
    raw(280, 88, descriptor, None, times, 0)
    raw(280, 88, descriptor, b"", times, AT_EMPTY_PATH)
    raw(260, 54, descriptor, b"", -1, os.getgid(), AT_EMPTY_PATH)
    own = "/proc/self/fd/%d" % descriptor
    quietly(lambda: os.chmod(own, 0o777))
    quietly(lambda: os.utime(own, (1, 1)))
    raw(16, 29, descriptor, ctypes.c_ulong(0x40086602), (ctypes.c_long * 1)(0x40))
print("tried")
`

/** A file of this user's beside a root, and the root with a link to it. */
function scene(confinement: Confinement): { root: string; file: string } {
  const [root, beside] = [confinement.directory(), confinement.directory()]
  const { uid, gid } = statSync(root)
  const file = join(beside, 'file')
  chmodSync(beside, 0o755)
  writeFileSync(file, 'kept')
  chownSync(file, uid, gid)
  chmodSync(file, 0o644)
  symlinkSync(file, join(root, 'link'))
  return { root, file }
}

function metadataOf(file: string): string {
  const { mode, uid, gid, ctimeNs, mtimeNs, atimeNs } = statSync(file, { bigint: true })
  return [mode, uid, gid, ctimeNs, mtimeNs, atimeNs].join(' ')
}

describeConfined('the metadata of a file outside the root', (confinement) => {
  const python = (file: string) => ['/usr/bin/python3', '-c', program, file] as const

  test('is not changed by any call, by path, link or descriptor', async () => {
    const { root, file } = scene(confinement)
    const before = metadataOf(file)
    const { stdout, stderr } = await confinement.run(root, python(file))
    expect([stdout, stderr]).toEqual(['tried\n', ''])
    expect(metadataOf(file)).toBe(before)
  })

  test('is changed by the same calls where nothing confines them', async () => {
    const { root, file } = scene(confinement)
    await confinement.runFreely(root, python(file))
    expect([statSync(file).mode & 0o777, statSync(file).mtimeMs]).toEqual([0o777, 1000])
  })

  test('is not changed where a program may read it', async () => {
    const { root, file } = scene(confinement)
    const before = metadataOf(file)
    const policy = { read: [join(file, '..')] }
    const { stdout } = await confinement.run(root, python(file), { policy })
    expect(stdout).toBe('tried\n')
    const after = metadataOf(file)
    // Reading it is allowed, which may count as an access.
    expect(after.split(' ').slice(0, 5)).toEqual(before.split(' ').slice(0, 5))
  })
})

describeConfined(
  'Landlock without a judge',
  (confinement) => {
    test('lets metadata outside be changed: the judge is what stops it', async () => {
      const { root, file } = scene(confinement)
      await confinement.run(root, ['chmod', '777', file], { landlock: { vets: false } })
      expect(statSync(file).mode & 0o777).toBe(0o777)
    })
  },
  ['landlock'],
)

describeConfined('the metadata of a file in the root', (confinement) => {
  test('is changed as programs wish: modes, times, attributes, by path and by descriptor', async () => {
    const script = `
set -e
echo x > file; chmod 640 file; touch -d @86400 file; stat -c '%a %Y' file
mkdir -m 750 directory; cp -p file directory/copy; stat -c '%a %Y' directory/copy
tar cf archive.tar directory; rm -r directory; tar xpf archive.tar; stat -c '%a' directory directory/copy
ln -s file link; touch -h -d @1 link; stat -c '%Y' link; chmod 600 link; stat -c '%a' file
install -m 700 file installed; stat -c '%a' installed
cd directory && chmod u+x ../installed copy && stat -c '%a' copy`
    const { stdout, stderr } = await confinement.run(confinement.directory(), ['sh', '-c', script])
    const expected = ['640 86400', '640 86400', '750', '640', '1', '600', '700', '740']
    expect([stdout.trim().split('\n'), stderr]).toEqual([expected, ''])
  })

  test('never gets a bit that gives away the rights of its owner or group', async () => {
    const root = confinement.directory()
    const script =
      'cp /bin/true a; chmod 4755 a; chmod 2755 a; chmod u+s a; stat -c %a a; mkdir -m 2755 d; stat -c %a d'
    const { stdout } = await confinement.run(root, ['sh', '-c', script])
    expect(stdout.split('\n')[0]).toMatch(confinement.backend === 'landlock' ? /^755$/ : /^2?755$/)
  })
})
