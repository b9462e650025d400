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

/** Is this the name of a variable that holds a credential of this project, which `takeEnvironment` takes out? */
export function isCredentialVariable(name: string): boolean {
  return credentialName.test(name);
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
