// What test files share within one run: a bundle, a database server, a browser. A package that
// needs something has
// `test/global-setup.ts`, whose default export starts it, passes addresses to the tests with `project.provide(name, value)`
// and returns a function that stops it. It runs once, and only if a test file of that package is
// part of the run. Other packages that use the same thing are named in `export const alsoFor =
// ['service']`.
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import type { TestProject } from 'vitest/node';

type Stop = () => unknown;

/** The form of `packages/<name>/test/global-setup.ts`. */
interface PackageSetup {
  default(project: TestProject): Promise<Stop | undefined> | Stop | undefined;
  alsoFor?: readonly string[];
}

const packages = join(import.meta.dirname, '../packages');

/** Runs the setups of the packages that have test files in this run. */
export default async function setup(project: TestProject): Promise<Stop> {
  const files = project.vitest.state.getPaths();
  const stops: Stop[] = [];

  const stopAll = async () => {
    for (const stop of stops.splice(0).reverse()) await stop();
  };

  try {
    for (const name of readdirSync(packages)) {
      const path = join(packages, name, 'test/global-setup.ts');
      if (!existsSync(path)) continue;
      const found: PackageSetup = await import(path);
      const users = [name, ...(found.alsoFor ?? [])];
      if (!users.some((user) => files.some((file) => file.includes(`/${user}/test/`)))) continue;
      const stop = await found.default(project);
      if (stop !== undefined) stops.push(stop);
    }
  } catch (error) {
    await stopAll();
    throw error;
  }

  return stopAll;
}
