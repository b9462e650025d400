import { createRequire } from 'node:module';
import { isInProject } from '@call-attribution/core/settings';
import { WarehouseError } from '../errors.ts';

const library = '@duckdb/node-api';
const bindings = '@duckdb/node-bindings';
const require = createRequire(import.meta.url);

/**
 * DuckDB. It is not imported: where a CommonJS module throws, as this one does without its binary, the `import` of Node.js 20
 * rejects twice, and nobody can catch the second time.
 */
export const duckdb: typeof import('@duckdb/node-api') = load();

function load(): typeof duckdb {
  try {
    return require(library);
  } catch (error) {
    throw loadFailure(error) ?? error;
  }
}

/** What is wrong with the installation of DuckDB; null for an error that says it well enough. */
export function loadFailure(cause: unknown, inProject = isInProject(import.meta.url)): WarehouseError | null {
  const { code, message } = cause as NodeJS.ErrnoException;
  const failure = (text: string, hint?: string): WarehouseError =>
    new WarehouseError('missing_package', text, hint === undefined ? { cause } : { hint, cause });
  const platform = `${process.platform}-${process.arch}`;
  if (code === 'ERR_DLOPEN_FAILED')
    return failure(`DuckDB's binary for ${platform} does not load: ${message}`);
  if (message.includes('unsupported arch')) return failure(`DuckDB has no binary for ${platform}.`);
  const [, missing] = /^Cannot find module '(@duckdb\/node-bindings[\w-]*)/.exec(message) ?? [];
  if (missing === undefined) return null;
  const { dependencies } = require(`${library}/package.json`);
  // The package of one platform, in the package.json of a project, would keep npm from installing that on others.
  const name = inProject ? bindings : missing;
  // Without the sign, a log that hides personal data would take the name and the version for an address of e-mail.
  const what = `${name}@=${dependencies[bindings]}`;
  return failure(
    `DuckDB needs the package ${missing}, which is not installed.`,
    `Add it with: npm install ${inProject ? '--include=optional' : '--global'} ${what}`,
  );
}
