import { existsSync } from 'node:fs';
import { sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import { ConfigurationError } from '@call-attribution/core/errors';

const name = '@call-attribution/warehouse';

/** The package that holds the copy. */
export type Library = typeof import('@call-attribution/warehouse');

/** Loads the package with the database. It is large, so it is installed by those who want a copy. */
export async function loadLibrary(): Promise<Library> {
  try {
    return await import('@call-attribution/warehouse');
  } catch (error) {
    const { code } = error as { code?: unknown };
    if (code !== 'ERR_MODULE_NOT_FOUND' && code !== 'MODULE_NOT_FOUND') throw error;
    throw new ConfigurationError(
      'missing_package',
      `--mirror needs the package ${name}: ${howToInstall()}.`,
      { cause: error },
    );
  }
}

/** How to install the package where this program finds it. */
function howToInstall(): string {
  const own = fileURLToPath(import.meta.url);
  if (own.includes(`${sep}_npx${sep}`))
    return `start with npx -y -p @call-attribution/mcp-server -p ${name} call-attribution-mcp --mirror`;
  const [project = '', ...inside] = own.split(`${sep}node_modules${sep}`);
  const isInProject = inside.length > 0 && existsSync(`${project}${sep}package.json`);
  return `run npm install ${isInProject ? '' : '--global '}${name}`;
}
