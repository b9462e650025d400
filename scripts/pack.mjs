// Packages as npm gets them. `node scripts/pack.mjs <folder> [package ...]` packs what is built
// into a folder, installs the tarballs there with plain npm, and prints their paths as JSON. For
// tests that need packages as users have them.
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
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
 * Installs tarballs and packages into a folder, next to what it has.
 * @param {string} folder @param {readonly string[]} what
 */
export function install(folder, what) {
  mkdirSync(folder, { recursive: true });
  const manifest = join(folder, 'package.json');
  if (!existsSync(manifest)) writeFileSync(manifest, '{"private":true,"type":"module"}');
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
 * A package with those of this repository that it needs.
 * @param {readonly string[]} names
 * @returns {string[]}
 */
export function withNeeded(names) {
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
    for (const need of Object.keys(found.manifest.dependencies ?? {}))
      if (need.startsWith(scope) && !all.has(need.slice(scope.length)))
        add(need.slice(scope.length));
  };

  names.forEach(add);
  return [...all];
}

if (process.argv[1] === import.meta.filename) {
  const [folder = '', ...rest] = process.argv.slice(2);
  const outside = rest.filter((name) => name.includes('@'));
  const wanted = withNeeded(rest.filter((name) => !name.includes('@')));
  const target = resolve(folder);
  mkdirSync(target, { recursive: true });
  const tarballs = packages
    .filter(({ name }) => wanted.includes(name))
    .map((pkg) => pack(pkg, target));
  install(target, [...tarballs, ...outside]);
  // A person wants to know how to go on; programs read the paths.
  if (process.stdout.isTTY) console.log(`installed in ${target}\nnext: cd ${target}`);
  else console.log(JSON.stringify(tarballs));
}
