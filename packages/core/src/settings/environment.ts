import { existsSync } from 'node:fs';
import { sep } from 'node:path';
import { fileURLToPath } from 'node:url';

/** Environment variables, as `process.env` has them. */
export type Environment = Readonly<Record<string, string | undefined>>;

/** An environment variable without spaces around it; null when it is empty or not set. */
export function readVariable(env: Environment, name: string): string | null {
  const value = env[name]?.trim();
  // Some hosts pass on the placeholder of a setting that the user left empty, such as ${input:key}.
  return value === undefined || value === '' || /^\$\{.*\}$/.test(value) ? null : value;
}

const credentialName = /^CALLS_\w*(?:KEY|TOKEN|SECRET|PASSWORD)$/;
const passwordInUrl = /^[a-z][a-z0-9+.-]*:\/\/[^/?#]*:.*@|[?&](?:ssl)?password=/i;

/** Is this the name of a variable that holds a credential of this project, which `takeEnvironment` takes out? */
export function isCredentialVariable(name: string): boolean {
  return credentialName.test(name);
}

function isSecret(name: string, value: string): boolean {
  return (
    name === 'PGPASSWORD' ||
    isCredentialVariable(name) ||
    (name.startsWith('CALLS_') && passwordInUrl.test(value))
  );
}

/**
 * Takes the environment out of the process: returns a copy, and deletes from `env` the variables that hold a secret of this
 * project (keys, tokens and passwords in `CALLS_...`, URLs with a password, `PGPASSWORD`). From then on a diagnostic report
 * of Node.js (`node --report-on-fatalerror`), `process.env` and the environment of child processes no longer have them. In
 * the copy they are getters, so that printing it does not show them.
 *
 * For programs that own their process, at their start. Pass the copy on as `env`.
 *
 * @example
 * const env = takeEnvironment();
 * const client = createClient(connectionOf(readSettings({ env })));
 */
export function takeEnvironment(env: Record<string, string | undefined> = process.env): Environment {
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
