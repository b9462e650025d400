import { isInProject } from '@call-attribution/core/settings';
import { systemCode, UsageError } from '../errors.ts';

const name = '@call-attribution/warehouse';

/** Loads the package with the database. It is large, so it is installed by those who use a warehouse. */
export async function loadLibrary(): Promise<typeof import('@call-attribution/warehouse')> {
  try {
    return await import('@call-attribution/warehouse');
  } catch (error) {
    const code = systemCode(error);
    if (code !== 'ERR_MODULE_NOT_FOUND' && code !== 'MODULE_NOT_FOUND') throw error;
    const command = `npm install ${isInProject(import.meta.url) ? '' : '--global '}${name}`;
    throw new UsageError(`duckdb: needs the package ${name}; install it with: ${command}`, { cause: error });
  }
}
