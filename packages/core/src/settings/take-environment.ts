import { type Environment, isCredentialVariable } from './environment.ts';

export type { Environment } from './environment.ts';

const passwordInUrl = /^[a-z][a-z0-9+.-]*:\/\/[^/?#]*:.*@|[?&](?:ssl)?password=/i;

function isSecret(name: string, value: string): boolean {
  return (
    name === 'PGPASSWORD' ||
    isCredentialVariable(name) ||
    (name.startsWith('CALLS_') && passwordInUrl.test(value))
  );
}

/**
 * Takes the environment out of the process: returns a copy, and deletes from `env` the variables
 * that hold a secret of this project (keys, tokens and passwords in `CALLS_...`, URLs with a
 * password, `PGPASSWORD`). From then on a diagnostic report of Node.js (`node
 * --report-on-fatalerror`), `process.env` and the environment of child processes no longer have
 * them. In the copy they are getters, so that printing it does not show them.
 *
 * For programs that own their process, at their start. Pass the copy on as `env`.
 *
 * @example
 * const env = takeEnvironment();
 * const client = createClient({ env });
 */
export function takeEnvironment(
  env: Record<string, string | undefined> = process.env,
): Environment {
  const copy: Record<string, string | undefined> = {};
  for (const [given, value] of Object.entries(env)) {
    if (value === undefined) continue;
    // Windows ignores case in names of variables; a plain object does not.
    const name = process.platform === 'win32' ? given.toUpperCase() : given;
    if (isSecret(name, value)) {
      delete env[given];
      Object.defineProperty(copy, name, { get: () => value, enumerable: true });
    } else copy[name] = value;
  }

  return copy;
}
