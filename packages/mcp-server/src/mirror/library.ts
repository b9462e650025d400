import { sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import { ConfigurationError } from '@call-attribution/core/errors';
import { isInProject } from '@call-attribution/core/settings';

const name = '@call-attribution/warehouse';

/** The package that holds the copy. */
export type Library = typeof import('@call-attribution/warehouse');

/** Loads the package with the database. It is large, so it is installed by those who want a copy. */
export async function loadLibrary(): Promise<Library> {
  try {
    return await import('@call-attribution/warehouse');
  } catch (error) {
    const code = codeOf(error);
    if (code !== 'ERR_MODULE_NOT_FOUND' && code !== 'MODULE_NOT_FOUND') throw error;
    throw new ConfigurationError(
      'missing_package',
      `--mirror needs the package ${name}: ${howToInstall()}.`,
      { cause: error },
    );
  }
}

/** The code of an error. */
export const codeOf = (error: unknown): unknown =>
  error instanceof Error && 'code' in error ? error.code : undefined;

/** How to install the package where this program finds it. */
function howToInstall(): string {
  if (fileURLToPath(import.meta.url).includes(`${sep}_npx${sep}`))
    return `start with npx -y -p @call-attribution/mcp-server -p ${name} call-attribution-mcp --mirror`;
  return `run npm install ${isInProject(import.meta.url) ? '' : '--global '}${name}`;
}
