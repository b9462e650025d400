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
