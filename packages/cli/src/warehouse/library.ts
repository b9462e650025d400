import { existsSync } from 'node:fs';
import { sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import { systemCode, UsageError } from '../errors.ts';

const name = '@call-attribution/warehouse';

/** Loads the package with the database. It is large, so it is installed by those who use a warehouse. */
export async function loadLibrary(): Promise<typeof import('@call-attribution/warehouse')> {
  try {
    return await import('@call-attribution/warehouse');
  } catch (error) {
    const code = systemCode(error);
    if (code !== 'ERR_MODULE_NOT_FOUND' && code !== 'MODULE_NOT_FOUND') throw error;
    throw new UsageError(`duckdb: needs the package ${name}; install it with: ${installCommand()}`, {
      cause: error,
    });
  }
}

/** The command that installs the package where this program finds it. */
function installCommand(): string {
  const own = fileURLToPath(import.meta.url);
  const [project = '', ...inside] = own.split(`${sep}node_modules${sep}`);
  const isInProject = inside.length > 0 && existsSync(`${project}${sep}package.json`);
  return `npm install ${isInProject ? '' : '--global '}${name}`;
}
