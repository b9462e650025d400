// Packages as npm gets them. `node scripts/pack.mjs <folder> <package ...>` packs what is built
// into a folder, installs the tarballs there with plain npm, and writes a launcher for each program
// that was asked for: `<folder>/calls` works from every folder, terminal and host. For users until
// npm has the packages, and for tests that need them as users have them, which read the paths of
// the tarballs on stdout, as JSON.
import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { join, resolve } from 'node:path';
import { packages, scope } from './workspace.mjs';

/**
 * The tarball of a package that has been built.
 * @param {{ dir: string }} pkg @param {string} folder
 */
export function pack({ dir }, folder) {
  /** @type {{ name: string, version: string }} */
  const { name, version } = JSON.parse(readFileSync(join(dir, 'package.json'), 'utf8'));
  const tarball = join(folder, `${name.replace('@', '').replace('/', '-')}-${version}.tgz`);
  rmSync(tarball, { force: true });
  execFileSync('pnpm', ['pack', '--pack-destination', folder], {
    cwd: dir,
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  if (!existsSync(tarball)) throw new Error(`pnpm pack made no ${tarball}`);
  return tarball;
}

/**
 * Installs tarballs and packages into a folder, next to what it has. Those that are optional are
 * left out where their `engines` do not fit.
 * @param {string} folder @param {readonly string[]} what
 * @param {Readonly<Record<string, string>>} [optional] tarballs by the names of their packages
 */
export function install(folder, what, optional = {}) {
  mkdirSync(folder, { recursive: true });
  const file = join(folder, 'package.json');
  const manifest = existsSync(file)
    ? JSON.parse(readFileSync(file, 'utf8'))
    : { private: true, type: 'module' };
  const optionalDependencies = { ...manifest.optionalDependencies };
  for (const [name, tarball] of Object.entries(optional))
    optionalDependencies[name] = `file:${tarball}`;
  writeFileSync(file, JSON.stringify({ ...manifest, optionalDependencies }));
  execFileSync(
    'npm',
    ['install', '--ignore-scripts', '--no-audit', '--no-fund', '--silent', ...what],
    {
      cwd: folder,
      stdio: ['ignore', 'ignore', 'inherit'],
    },
  );
}

/**
 * A package with those of this repository that it needs, or that it can do without as well.
 * @param {readonly string[]} names @param {readonly string[]} [kinds] of dependencies
 * @returns {string[]}
 */
export function withNeeded(names, kinds = ['dependencies']) {
  /** @type {Set<string>} */
  const all = new Set();

  /** @param {string} name */
  const add = (name) => {
    const found = packages.find((pkg) => pkg.name === name);
    if (!found) {
      console.error(`there is no package ${name}: ${packages.map((pkg) => pkg.name).join(', ')}`);
      process.exit(2);
    }

    all.add(name);
    for (const need of kinds.flatMap((kind) => Object.keys(found.manifest[kind] ?? {})))
      if (need.startsWith(scope) && !all.has(need.slice(scope.length)))
        add(need.slice(scope.length));
  };

  names.forEach(add);
  return [...all];
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

if (process.argv[1] === import.meta.filename) {
  const [folder = '', ...rest] = process.argv.slice(2);
  if (rest.length === 0) {
    console.error('name a folder and packages: pnpm tarballs ../calls cli core node-stream');
    process.exit(2);
  }

  const outside = rest.filter((name) => name.includes('@'));
  const named = rest.filter((name) => !name.includes('@'));
  const needed = withNeeded(named);
  const wanted = withNeeded(named, ['dependencies', 'optionalDependencies']);
  mkdirSync(resolve(folder), { recursive: true });
  const target = realpathSync(folder);
  /** @type {string[]} */
  const tarballs = [];
  /** @type {Record<string, string>} */
  const optional = {};
  for (const pkg of packages.filter(({ name }) => wanted.includes(name))) {
    const tarball = pack(pkg, target);
    if (needed.includes(pkg.name)) tarballs.push(tarball);
    else optional[pkg.manifest.name] = tarball;
  }

  install(target, [...tarballs, ...outside], optional);

  const launchers = packages
    .filter(({ name }) => named.includes(name))
    .flatMap(({ manifest }) =>
      Object.entries(manifest.bin ?? {}).map(([name, script]) =>
        writeLauncher(target, name, join(target, 'node_modules', manifest.name, script)),
      ),
    );

  // A person wants to know how to go on; programs read the paths.
  console.error(`installed in ${target}`);
  if (launchers.length > 0)
    console.error(
      `works from every folder and terminal, in cron and in assistants: ${launchers.join(', ')}`,
    );
  if (!process.stdout.isTTY) console.log(JSON.stringify([...tarballs, ...Object.values(optional)]));
}
