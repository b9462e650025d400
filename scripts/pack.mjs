// Packages as npm gets them. `node scripts/pack.mjs <folder> <package ...>` packs what is built
// into a folder, installs there what was asked for with plain npm, and writes a launcher for each
// program: `<folder>/calls` works from every folder, terminal and host. For users until npm has the
// packages, and for tests that need them as users have them.
import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { quiet } from './fetched.mjs';
import { packages } from './workspace.mjs';

/**
 * Packs all packages that have been built, in place of what was packed there before. The name of a
 * tarball has a part of its hash, since npm would take another one of the same name for installed.
 * @param {string} folder
 * @returns {Record<string, string>} where each package is, as manifests say it
 */
export function pack(folder) {
  for (const file of readdirSync(folder))
    if (/^call-attribution-.*\.tgz$/.test(file)) rmSync(join(folder, file));
  const filters = packages.map(({ manifest }) => `--filter=${manifest.name}`);
  const args = [...filters, 'pack', '--pack-destination', folder, '--json'];
  /** @type {{ name: string, filename: string, integrity: string }[]} */
  const packed = JSON.parse(execFileSync('pnpm', args, { encoding: 'utf8', maxBuffer: 2 ** 26 }));
  return Object.fromEntries(
    packed.map(({ name, filename, integrity }) => {
      const hash = Buffer.from(integrity.replace('sha512-', ''), 'base64').toString('hex', 0, 6);
      const tarball = filename.replace(/\.tgz$/, `-${hash}.tgz`);
      renameSync(filename, tarball);
      return [name, `file:${tarball}`];
    }),
  );
}

/**
 * Installs packages of this repository into a folder, next to what it has. What they need of each
 * other comes from the tarballs, by npm's own rules.
 * @param {string} folder @param {readonly string[]} names @param {readonly string[]} outside packages
 */
function install(folder, names, outside) {
  const tarballs = pack(folder);
  const file = join(folder, 'package.json');
  const manifest = existsSync(file)
    ? JSON.parse(readFileSync(file, 'utf8'))
    : { private: true, type: 'module' };
  manifest.dependencies ??= {};
  for (const name of names) manifest.dependencies[name] = tarballs[name];
  manifest.overrides = { ...manifest.overrides, ...tarballs };
  writeFileSync(file, JSON.stringify(manifest));
  execFileSync('npm', ['install', ...quiet, ...outside], {
    cwd: folder,
    stdio: ['ignore', 'ignore', 'inherit'],
  });
}

/**
 * Writes a program that starts another one of Node.js by its path, and returns where it is. It
 * takes the Node.js that runs now, since hosts and cron often have none on their PATH; when that is
 * gone, the one on PATH.
 * @param {string} folder @param {string} name @param {string} script
 */
export function writeLauncher(folder, name, script) {
  if (process.platform === 'win32') {
    const launcher = join(folder, `${name}.cmd`);
    const line = `@"${process.execPath}" "${script}" %*`;
    writeFileSync(launcher, `${line.replaceAll('%', '%%').replace('%%*', '%*')}\r\n`);
    return launcher;
  }

  /** @param {string} path */
  const quoted = (path) => `'${path.replaceAll("'", `'\\''`)}'`;
  const launcher = join(folder, name);
  const lines = [
    '#!/bin/sh',
    `node=${quoted(process.execPath)}`,
    '[ -x "$node" ] || node=node',
    `exec "$node" ${quoted(script)} "$@"`,
  ];
  writeFileSync(launcher, `${lines.join('\n')}\n`);
  chmodSync(launcher, 0o755);
  return launcher;
}

/** @param {string} why @returns {never} */
function stop(why) {
  console.error(why);
  process.exit(2);
}

if (process.argv[1] === import.meta.filename) {
  const [folder = '', ...rest] = process.argv.slice(2);
  if (rest.length === 0)
    stop('name a folder and packages: pnpm tarballs ../calls cli core node-stream');
  const outside = rest.filter((name) => name.includes('@'));
  const wanted = rest
    .filter((name) => !name.includes('@'))
    .map(
      (named) =>
        packages.find(({ name }) => name === named) ??
        stop(`there is no package ${named}: ${packages.map(({ name }) => name).join(', ')}`),
    );

  mkdirSync(folder, { recursive: true });
  const target = realpathSync(folder);
  const names = wanted.map(({ manifest }) => manifest.name);
  install(target, names, outside);

  const launchers = wanted.flatMap(({ manifest }) =>
    Object.entries(manifest.bin ?? {}).map(([name, script]) =>
      writeLauncher(target, name, join(target, 'node_modules', manifest.name, script)),
    ),
  );
  console.log(`installed in ${target}`);
  if (launchers.length > 0)
    console.log(
      `works from every folder and terminal, in cron and in assistants: ${launchers.join(', ')}`,
    );
}
