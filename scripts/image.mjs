// Lints docker/Dockerfile by the rules of hadolint that apply to such a file, and docker/compose.yaml for what keeps the container
// closed. With --run, where Linux lets root do it: carries out the commands of the image in a root file system of their own, with the
// packages as npm gets them, a sandbox as the API, and a read-only root.
import { spawn, spawnSync } from 'node:child_process';
import {
  chmodSync,
  chownSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { composeProblems, dockerfileProblems, instructions } from './dockerfile.mjs';
import { pack, withNeeded } from './pack.mjs';
import { packages, root } from './workspace.mjs';

/**
 * Runs a command in a folder as the root file system, next to what a Debian image has. `build` may write everywhere, as root; `run`
 * has the rights of the container: user 1000, no capabilities, only /data and /tmp to write.
 */
const enter = `
set -e; root=$1; mode=$2; shift 2
mount --make-rprivate /; mount --bind "$root" "$root"; cd "$root"
for dir in usr bin sbin lib lib64 etc dev; do
  [ -e /$dir ] || continue
  mkdir -p $dir; mount --rbind /$dir $dir
  [ $dir = dev ] || mount -o remount,bind,ro $dir
done
mkdir -p proc tmp; mount -t proc proc proc; mount -t tmpfs -o mode=1777 tmpfs tmp
[ "$mode" = run ] || exec chroot . "$@"
mount --bind data data; mount -o remount,bind,ro .
exec chroot . setpriv --reuid 1000 --regid 1000 --clear-groups --bounding-set=-all --inh-caps=-all --no-new-privs -- "$@"`;

if (process.argv[1] === import.meta.filename) await main();

async function main() {
  const dockerfile = readFileSync(join(root, 'docker/Dockerfile'), 'utf8');
  const problems = [
    ...dockerfileProblems(dockerfile),
    ...composeProblems(readFileSync(join(root, 'docker/compose.yaml'), 'utf8')),
  ];
  for (const problem of problems) console.error(problem);
  if (problems.length > 0) process.exitCode = 1;
  else console.log('docker/Dockerfile and docker/compose.yaml: no problem');
  if (!process.argv.includes('--run')) return;
  const mayRun =
    process.platform === 'linux' &&
    process.getuid?.() === 0 &&
    // Only what is in /usr is in the root file system of the image.
    realpathSync(process.execPath).startsWith('/usr/') &&
    spawnSync('unshare', ['-m', 'true']).status === 0;
  if (!mayRun)
    return console.log(
      'the commands of the image were not run: that needs root on Linux, mount namespaces and a Node.js in /usr',
    );
  const folder = mkdtempSync(join(tmpdir(), 'image-'));
  chmodSync(folder, 0o755);
  try {
    await runImage(dockerfile, folder);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** @param {string} dockerfile @param {string} folder */
async function runImage(dockerfile, folder) {
  const all = instructions(dockerfile);
  const listOf = (/** @type {string} */ name) =>
    /** @type {string[]} */ (
      JSON.parse(all.find((entry) => entry.name === name)?.value.replace(/^.*?(?=\[)/, '') ?? '[]')
    );
  const env = Object.fromEntries(
    all
      .filter(({ name }) => name === 'ENV')
      .flatMap(({ value }) => value.split(/\s+/).map((pair) => pair.split('=', 2))),
  );
  const inRoot = (/** @type {string} */ mode, /** @type {string[]} */ command) => [
    '-m',
    'sh',
    '-c',
    enter,
    'sh',
    folder,
    mode,
    ...command,
  ];

  // RUN, with the packages of this checkout in the place of those that are published.
  mkdirSync(join(folder, 'opt/calls'), { recursive: true });
  mkdirSync(join(folder, 'packs'));
  const names = withNeeded(['cli', 'warehouse']);
  const tarballs = packages
    .filter(({ name }) => names.includes(name))
    .map((pkg) => pack(pkg, join(folder, 'packs')));
  const packs = tarballs.map((file) => `/packs/${basename(file)}`).join(' ');
  const registry = spawnSync('npm', ['config', 'get', 'registry'], { encoding: 'utf8' }).stdout.trim();
  for (const { value } of all.filter(({ name }) => name === 'RUN')) {
    const command = value.replace(/("@call-attribution\/[^"]*"\s*)+/, `${packs} `);
    const built = spawnSync('unshare', inRoot('build', ['sh', '-c', `cd /opt/calls && ${command}`]), {
      env: { ...process.env, HOME: '/tmp', npm_config_registry: registry },
      encoding: 'utf8',
    });
    if (built.status !== 0) throw new Error(`RUN ${command}\n${built.stdout}${built.stderr}`);
  }
  chownSync(join(folder, 'data'), 1000, 1000);

  // What compose.yaml mounts: the keys of a sandbox, and the feeds.
  const bin = join(folder, listOf('ENTRYPOINT').at(-1) ?? '');
  const sandbox = spawn(process.execPath, [bin, 'serve', '--records', '500', '--port', '0', '--ready-json'], {
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  try {
    const { url, accounts } = JSON.parse(await firstLine(sandbox.stdout));
    const secrets = {
      access_key: accounts[0].accessKey,
      secret_key: accounts[0].secretKey,
      feed_password: 'x'.repeat(20),
    };
    mkdirSync(join(folder, 'run/secrets'), { recursive: true });
    mkdirSync(join(folder, 'run/calls'));
    for (const [name, value] of Object.entries(secrets)) {
      writeFileSync(join(folder, 'run/secrets', name), value, { mode: 0o400 });
      chownSync(join(folder, 'run/secrets', name), 1000, 1000);
    }
    const feeds = JSON.parse(readFileSync(join(root, 'docker/feeds.json'), 'utf8'));
    feeds.feeds[0].account = accounts[0].id;
    writeFileSync(join(folder, 'run/calls/feeds.json'), JSON.stringify(feeds));
    const compose = readFileSync(join(root, 'docker/compose.yaml'), 'utf8');
    const command = [
      ...listOf('ENTRYPOINT'),
      ...((/^ {4}command:\n((?: {6}- .*\n)+)/m.exec(compose)?.[1] ?? '').match(/(?<=- ).*/g) ?? []),
    ];
    const container = spawn('unshare', inRoot('run', command), {
      env: {
        PATH: '/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin',
        ...env,
        CALLS_BASE_URL: url,
        CALLS_TIME_ZONE: 'UTC',
        CALLS_ACCESS_KEY_FILE: '/run/secrets/access_key',
        CALLS_SECRET_KEY_FILE: '/run/secrets/secret_key',
      },
      stdio: ['ignore', 'inherit', 'pipe'],
    });
    let log = '';
    container.stderr.setEncoding('utf8').on('data', (text) => (log += text));
    const ended = new Promise((done) => container.on('exit', (code, signal) => done(code ?? signal)));
    try {
      await tryAll(folder, listOf('HEALTHCHECK'), inRoot, secrets.feed_password, () => log);
    } finally {
      container.kill('SIGTERM');
      const status = await Promise.race([
        ended,
        new Promise((done) => setTimeout(() => done('still running'), 30_000).unref()),
      ]);
      if (status !== 0) {
        container.kill('SIGKILL');
        console.error(`SIGTERM: the container ended with ${status}\n${log}`);
        process.exitCode = 1;
      }
    }
  } finally {
    sandbox.kill();
  }
}

/**
 * @param {string} folder @param {string[]} healthcheck @param {(mode: string, command: string[]) => string[]} inRoot
 * @param {string} password @param {() => string} log
 */
async function tryAll(folder, healthcheck, inRoot, password, log) {
  const expectAll = async (
    /** @type {string} */ what,
    /** @type {() => Promise<boolean> | boolean} */ holds,
  ) => {
    for (let tries = 0; tries < 100; tries += 1) {
      if (await holds()) return console.log(`ok     ${what}`);
      await new Promise((done) => setTimeout(done, 300));
    }
    throw new Error(`${what}: it did not\n${log()}`);
  };
  await expectAll(
    'the health check passes',
    () => spawnSync('unshare', inRoot('run', healthcheck)).status === 0,
  );
  const headers = { authorization: `Basic ${Buffer.from(`google:${password}`).toString('base64')}` };
  await expectAll('the feed is served from the warehouse in /data', async () => {
    const response = await fetch('http://127.0.0.1:8675/feeds/clicks.csv', { headers }).catch(() => null);
    return response?.status === 200 && (await response.text()).split('\n').length > 3;
  });
  const writes =
    "const fs = require('node:fs'); const can = (file) => { try { fs.writeFileSync(file, 'x'); return true; } catch { return false; } }; console.log(JSON.stringify([process.getuid(), ...['/x', '/opt/calls/x', '/etc/x', '/data/x', '/tmp/x'].map(can)]));";
  const { stdout } = spawnSync('unshare', inRoot('run', ['node', '-e', writes]), { encoding: 'utf8' });
  await expectAll(
    'only /data and /tmp can be written, as user 1000',
    () => stdout.trim() === '[1000,false,false,false,true,true]',
  );
  rmSync(join(folder, 'data/x'), { force: true });
}

/** @param {import('node:stream').Readable} stream @returns {Promise<string>} */
async function firstLine(stream) {
  let text = '';
  for await (const chunk of stream) {
    text += chunk;
    if (text.includes('\n')) break;
  }
  return text.split('\n')[0] ?? '';
}
