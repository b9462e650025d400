// Which package may use which. `turbo boundaries` proves that every import is declared in a manifest; this proves that every
// declared workspace dependency points down the stack, and that no source file has become too long to read in one go.
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { packages, root, scope } from './workspace.mjs';

/** Each package may use those on the lines above its own, and none on its own line. */
const order = [
  ['query-dsl'],
  ['core'],
  ['node-stream'],
  ['conversions', 'store', 'warehouse'],
  ['service', 'fleet', 'mcp-server'],
  ['sandbox'],
  ['cli'],
];
/** Tests of these packages may also use what is named here. */
const inTests = /** @type {Record<string, readonly string[]>} */ ({
  'mcp-server': ['sandbox'],
  fleet: ['sandbox'],
  warehouse: ['conversions', 'sandbox'],
});
/** Tests of every package above core may use it: it is private and depends on core only. */
const everyTest = 'test-tools';

/** @typedef {{ name: string, manifest: Record<string, Record<string, string> | undefined> }} Pkg */

/** @param {Record<string, string> | undefined} deps */
const siblings = (deps) =>
  Object.keys(deps ?? {})
    .filter((name) => name.startsWith(scope))
    .map((name) => name.slice(scope.length));

/** Each dependency that points up or sideways, as one line. @param {readonly Pkg[]} all */
export function violations(all) {
  return all.flatMap(({ name, manifest }) => {
    const line = order.findIndex((names) => names.includes(name));
    if (line < 0) return [`${name} is new: add it to the order in scripts/layers.mjs`];
    const allowed = order.slice(0, line).flat();
    const forTests = [...allowed, everyTest, ...(inTests[name] ?? [])];
    return [
      ...[manifest.dependencies, manifest.peerDependencies, manifest.optionalDependencies]
        .flatMap(siblings)
        .filter((dep) => !allowed.includes(dep)),
      ...siblings(manifest.devDependencies).filter((dep) => !forTests.includes(dep)),
    ].map((dep) => `${name} must not depend on ${dep}`);
  });
}

const mostLines = 300;

/** Sources and scripts, without tests and what is generated. */
const sourceFiles = () =>
  execFileSync('git', ['ls-files', '--cached', '--others', '--exclude-standard', '*.ts', '*.mjs'], {
    cwd: root,
    encoding: 'utf8',
  })
    .split('\n')
    .filter((file) => file !== '' && !/\/(?:generated|test)\//.test(file) && existsSync(join(root, file)))
    .map((file) => ({ file, text: readFileSync(join(root, file), 'utf8') }));

/** @param {readonly { file: string, text: string }[]} files @returns {string[]} one line for each file that is too long */
export const tooLong = (files) =>
  files
    .map(({ file, text }) => ({ file, lines: text.split('\n').length - 1 }))
    .filter(({ lines }) => lines > mostLines)
    .map(({ file, lines }) => `${file} has ${lines} lines: split it, ${mostLines} is the limit`);

if (process.argv[1] === import.meta.filename) {
  const wrong = [...violations(packages), ...tooLong(sourceFiles())];
  for (const line of wrong) console.error(line);
  process.exitCode = wrong.length > 0 ? 1 : 0;
}
