// What repeats the version of a package outside of its manifest. Written and checked by
// scripts/generate.mjs, which `pnpm run version` runs after changesets has changed the manifests.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { packages, root } from './workspace.mjs';

const image = /(?<=call-attribution\/calls:)\d[\w.-]*/g;

/** Which package each file repeats the version of, and where. */
const copies = /** @type {const} */ ([
  ['core', 'packages/core/src/client/read-options.ts', /(?<=const packageVersion = ')[^']+/g],
  ['mcp-server', 'packages/mcp-server/src/server.ts', /(?<=const version = ')[^']+/g],
  ['mcp-server', 'packages/mcp-server/server.json', /(?<="version": ")[^"]+/g],
  ['cli', 'docker/Dockerfile', image],
  ['cli', 'docker/README.md', image],
  ['cli', 'docker/compose.yaml', image],
  ['cli', 'examples/deploy/kubernetes/Dockerfile', image],
  ['cli', 'examples/deploy/kubernetes/backfill.yaml', image],
  ['cli', 'examples/deploy/kubernetes/worker.yaml', image],
]);

/** @param {ReadonlyMap<string, string>} [versions] by package */
export function generate(
  versions = new Map(packages.map(({ name, manifest }) => [name, manifest.version])),
) {
  return copies.map(([name, path, form]) => {
    const text = readFileSync(join(root, path), 'utf8');
    if (!text.match(form)) throw new Error(`${path} does not name the version of ${name}.`);
    return { path, text: text.replace(form, versions.get(name) ?? '') };
  });
}
