// Lints the OpenAPI document that the built service serves, with Redocly's strict rules. The linter
// weighs 29 MB, so it is no dependency of the workspace: it is installed here, in an exact version,
// when this check runs for the first time.
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { startSandboxProcess } from './sandbox.mjs';
import { root } from './workspace.mjs';

const version = '2.64.0';
const place = join(root, '.cache', `openapi-linter-${version}`);
const linter = '@redocly/openapi-core';

function install() {
  if (existsSync(join(place, 'node_modules', linter, 'package.json'))) return;
  mkdirSync(place, { recursive: true });
  writeFileSync(join(place, 'package.json'), '{ "private": true }\n');
  const flags = ['--ignore-scripts', '--no-audit', '--no-fund', '--silent'];
  const packages = [`${linter}@${version}`];
  const { status } = spawnSync('npm', ['install', ...flags, ...packages], {
    cwd: place,
    stdio: 'inherit',
  });
  if (status === 0) return;
  console.error(
    `The linter ${packages[0]} could not be installed. Check the network, then run this check again.`,
  );
  process.exit(1);
}

/** @returns {Promise<(document: object) => Promise<string[]>>} */
async function loadLinter() {
  install();
  const path = createRequire(join(place, 'package.json')).resolve(linter);
  const { createConfig, lintFromString } = await import(pathToFileURL(path).href);
  const config = await createConfig({ extends: ['recommended-strict'] });
  return async (document) => {
    const found = await lintFromString({
      source: JSON.stringify(document),
      config,
      absoluteRef: '/openapi.json',
    });
    return found.map(
      (
        /** @type {{ ruleId: string, message: string, location: { pointer?: string }[] }} */ problem,
      ) => `${problem.ruleId}: ${problem.message} (${problem.location[0]?.pointer ?? 'document'})`,
    );
  };
}

const lint = await loadLinter();
const sandbox = await startSandboxProcess(['--records', '1']);
try {
  const document = /** @type {any} */ (
    await (await fetch(`${sandbox.ready.url}/openapi.json`)).json()
  );
  const problems = await lint(document);
  // A linter that finds nothing in a broken document would prove nothing about the whole one.
  const broken = structuredClone(document);
  delete broken.paths['/v2/user/bid-management'].get.responses['200'];
  broken.components.schemas.Count.type = 'int';
  if ((await lint(broken)).length < 2) problems.push('the linter does not see planted mistakes');
  for (const problem of problems) console.error(problem);
  console.log(`${Object.keys(document.paths).length} paths linted, ${problems.length} problems`);
  process.exitCode = problems.length > 0 ? 1 : 0;
} finally {
  await sandbox.close();
}
