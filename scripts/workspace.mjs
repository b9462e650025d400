import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

export const root = join(import.meta.dirname, '..');
export const scope = '@call-attribution/';

/**
 * The entries of a package, from the exports of its manifest: the path that users import ("." or
 * "./time"), its source and its built declarations.
 * @param {{ exports?: Record<string, string | Record<string, string>> }} manifest
 * @returns {{ path: string, source: string, types: string }[]}
 */
export const entriesOf = (manifest) =>
  Object.entries(manifest.exports ?? {}).flatMap(([path, target]) =>
    typeof target === 'string'
      ? []
      : [{ path, source: target[`${scope}source`] ?? '', types: target.types ?? '' }],
  );

/** Every package that goes to npm: its short name, folder, manifest and entries. */
export const packages = readdirSync(join(root, 'packages'))
  .map((name) => ({ name, dir: join(root, 'packages', name) }))
  .map((pkg) => ({
    ...pkg,
    manifest: JSON.parse(readFileSync(join(pkg.dir, 'package.json'), 'utf8')),
  }))
  .filter(({ manifest }) => !manifest.private)
  .map((pkg) => ({ ...pkg, entries: entriesOf(pkg.manifest) }));
