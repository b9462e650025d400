import { existsSync } from 'node:fs';
import { sep } from 'node:path';
import { fileURLToPath } from 'node:url';

/**
 * Is the package of a module part of a project, which has a `package.json` next to `node_modules`? If not, it was installed with
 * `npm install --global`, and so has to be what it misses.
 *
 * @param url `import.meta.url` of the module.
 */
export function isInProject(url: string): boolean {
  const [project = '', ...inside] = fileURLToPath(url).split(`${sep}node_modules${sep}`);
  return inside.length > 0 && existsSync(`${project}${sep}package.json`);
}
