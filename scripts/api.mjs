// Writes docs/api/<package>.api.md, the public surface of each package as one reviewable text.
// With --check it writes nothing and fails when a surface changed.
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { Extractor, ExtractorConfig, ExtractorLogLevel } from '@microsoft/api-extractor';
import { packages, root } from './workspace.mjs';

const check = process.argv.includes('--check');
const reportTempFolder = join(root, 'node_modules/.cache/api');
mkdirSync(reportTempFolder, { recursive: true });
let failed = false;

// A package with more than one entry has a report for each: core, core.testing and so on.
const surfaces = packages.flatMap(({ name, dir, manifest }) =>
  Object.entries(/** @type {Record<string, string | { types: string }>} */ (manifest.exports)).flatMap(
    ([path, target]) =>
      typeof target === 'string'
        ? []
        : [{ name: name + path.slice(1).replaceAll('/', '.'), dir, types: target.types }],
  ),
);

for (const { name, dir, types } of surfaces) {
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
        reportFolder: join(root, 'docs/api'),
        reportTempFolder,
      },
      docModel: { enabled: false },
      dtsRollup: { enabled: false },
      tsdocMetadata: { enabled: false },
      messages: {
        extractorMessageReporting: {
          'ae-missing-release-tag': { logLevel: ExtractorLogLevel.None },
          'ae-undocumented': { logLevel: ExtractorLogLevel.None },
        },
        tsdocMessageReporting: { default: { logLevel: ExtractorLogLevel.None } },
      },
    },
  });
  const result = Extractor.invoke(config, {
    localBuild: !check,
    messageCallback: (message) => {
      message.handled = message.logLevel !== 'error';
    },
  });
  if (check && result.apiReportChanged) {
    failed = true;
    console.error(`${name}: the public surface changed; run "pnpm fix" and review docs/api/${name}.api.md`);
  }
  if (result.errorCount > 0) failed = true;
}
console.log(`${surfaces.length} public surfaces ${check ? 'checked' : 'written'}`);
process.exitCode = failed ? 1 : 0;
