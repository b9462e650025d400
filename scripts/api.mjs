// Writes docs/api/<package>.api.md, the public surface of each entry of each package as a page that can be reviewed. With
// --check it writes nothing, and fails when a surface changed or when an export or a member has no doc comment. A type that a
// surface names, but that no entry of its package exports, fails both ways, and so does a unique symbol.
import { mkdirSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { Extractor, ExtractorConfig, ExtractorLogLevel } from '@microsoft/api-extractor';
import { packages, root } from './workspace.mjs';

const check = process.argv.includes('--check');
const reportTempFolder = join(root, 'node_modules/.cache/api');
const reports = join(root, 'docs/api');
mkdirSync(reportTempFolder, { recursive: true });
let failed = false;

// An entry such as core/testing has a report of its own: core.testing.
const surfaces = packages.flatMap(({ name, dir, entries }) =>
  entries.map(({ path, types }) => ({
    name: name + path.slice(1).replaceAll('/', '.'),
    package: name,
    dir,
    types,
  })),
);
/** What each surface names and does not export. @type {{ surface: string, package: string, type: string }[]} */
const hidden = [];

/**
 * How many exports and members of a report have no doc comment. Not counted: further overloads of a documented function, the
 * literal name of an error, and methods that Node.js calls (_read, _transform).
 * @param {string} report
 */
function countUndocumented(report) {
  const declared = new Set();
  let missing = false;
  let count = 0;
  for (const line of report.split('\n')) {
    if (line.includes('//')) missing = line.includes('(undocumented)');
    else if (line.trim() !== '') {
      const overload = /^export function (\w+)/.exec(line)?.[1];
      const known = /^ +(?:_\w+\(|readonly name = ")/.test(line) || (overload && declared.has(overload));
      if (missing && !known) count++;
      if (overload) declared.add(overload);
      missing = false;
    }
  }
  return count;
}

for (const { name, package: owner, dir, types } of surfaces) {
  const config = ExtractorConfig.prepare({
    configObjectFullPath: undefined,
    packageJsonFullPath: join(dir, 'package.json'),
    configObject: {
      projectFolder: dir,
      mainEntryPointFilePath: join(dir, types),
      compiler: { tsconfigFilePath: join(dir, 'tsconfig.build.json') },
      apiReport: {
        enabled: true,
        reportFileName: name,
        reportFolder: reports,
        reportTempFolder,
      },
      docModel: { enabled: false },
      dtsRollup: { enabled: false },
      tsdocMetadata: { enabled: false },
      messages: {
        extractorMessageReporting: {
          'ae-missing-release-tag': { logLevel: ExtractorLogLevel.None },
          'ae-undocumented': { logLevel: ExtractorLogLevel.None },
          'ae-forgotten-export': { logLevel: ExtractorLogLevel.Warning },
        },
        tsdocMessageReporting: { default: { logLevel: ExtractorLogLevel.None } },
      },
    },
  });
  const result = Extractor.invoke(config, {
    localBuild: !check,
    messageCallback: (message) => {
      const type = /symbol "([^"]+)"/.exec(message.text)?.[1];
      if (message.messageId === 'ae-forgotten-export' && type !== undefined)
        hidden.push({ surface: name, package: owner, type });
      message.handled = message.logLevel !== 'error';
    },
  });
  if (check && result.apiReportChanged) {
    failed = true;
    console.error(`${name}: the public surface changed; run "pnpm fix" and review docs/api/${name}.api.md`);
  }
  if (result.errorCount > 0) failed = true;
}

/** The names that the entries of each package export. @type {Map<string, Set<string>>} */
const exported = new Map();
for (const { name, package: owner } of surfaces) {
  const report = readFileSync(join(reports, `${name}.api.md`), 'utf8');
  const found = exported.get(owner) ?? new Set();
  exported.set(owner, found);
  for (const [, plain, list] of report.matchAll(
    /^export (?:(?:abstract )?(?:class|interface|type|function|const|enum) (\w+)|\{ ([^}]+) \})/gm,
  ))
    for (const one of plain ? [plain] : (list ?? '').split(','))
      found.add(one.trim().split(' as ').at(-1) ?? '');
  if (/\bunique symbol\b/.test(report)) {
    failed = true;
    console.error(`docs/api/${name}.api.md has a unique symbol, which nobody outside can name`);
  }
}
for (const { surface, package: owner, type } of hidden) {
  if (exported.get(owner)?.has(type)) continue;
  failed = true;
  console.error(`docs/api/${surface}.api.md names ${type}, which no entry of ${owner} exports`);
}

const names = new Set(surfaces.map(({ name }) => `${name}.api.md`));
let undocumented = 0;
for (const file of readdirSync(reports)) {
  if (!names.has(file)) {
    if (check) failed = true;
    else rmSync(join(reports, file));
    console.error(`docs/api/${file}: there is no such entry${check ? '; run "pnpm fix"' : ', removed'}`);
    continue;
  }
  const count = countUndocumented(readFileSync(join(reports, file), 'utf8'));
  if (count > 0) {
    console.error(`docs/api/${file}: ${count} without a doc comment; look for "(undocumented)"`);
    if (check) failed = true;
  }
  undocumented += count;
}
console.log(
  `${surfaces.length} public surfaces ${check ? 'checked' : 'written'}, ${undocumented} without a doc comment`,
);
process.exitCode = failed ? 1 : 0;
