import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

export const root = join(import.meta.dirname, '..');
export const scope = '@call-attribution/';

/** Every package that goes to npm: its short name, its folder and its manifest. */
export const packages = readdirSync(join(root, 'packages'))
  .map((name) => ({ name, dir: join(root, 'packages', name) }))
  .map((pkg) => ({ ...pkg, manifest: JSON.parse(readFileSync(join(pkg.dir, 'package.json'), 'utf8')) }))
  .filter(({ manifest }) => !manifest.private);
