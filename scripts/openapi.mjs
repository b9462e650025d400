// Lints the OpenAPI document that the built service serves, with Redocly's strict rules. The linter
// weighs 29 MB, so it is no dependency of the workspace.
import { createRequire } from 'node:module';
import { pathToFileURL } from 'node:url';
import { fetched } from './fetched.mjs';
import { startSandboxProcess } from './sandbox.mjs';

const linter = '@redocly/openapi-core';
const path = createRequire(fetched(`${linter}@2.64.0`)).resolve(linter);
const { createConfig, lintFromString } = await import(pathToFileURL(path).href);
const config = await createConfig({ extends: ['recommended-strict'] });

/** What is wrong with a document, a line each. @param {object} document @returns {Promise<string[]>} */
async function lint(document) {
  /** @type {{ ruleId: string, message: string, location: { pointer?: string }[] }[]} */
  const found = await lintFromString({
    source: JSON.stringify(document),
    config,
    absoluteRef: '/openapi.json',
  });
  return found.map(
    ({ ruleId, message, location }) =>
      `${ruleId}: ${message} (${location[0]?.pointer ?? 'document'})`,
  );
}

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
