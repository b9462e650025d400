// Checks api/<name>.api.md, the public surface of each package: all its entries in one report,
// those below it as namespaces (`@call-attribution/core/time` is `time`). Fails when a surface
// changed, when an export or a member has no doc comment, when a surface names a type that no entry
// exports, and when it has a unique symbol. With --write it brings the reports up to date.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import {
  CompilerState,
  Extractor,
  ExtractorConfig,
  ExtractorLogLevel,
} from '@microsoft/api-extractor';
import { packages, root } from './workspace.mjs';

const write = process.argv.includes('--write');
const cache = '.cache/api';
mkdirSync(join(root, 'api'), { recursive: true });
let failed = false;
/** @param {string} problem */
const report = (problem) => {
  failed = true;
  console.error(problem);
};

/**
 * A declaration file with all entries of a package.
 * @param {{ dir: string, entries: readonly { path: string, types: string }[] }} pkg @returns {string} its path
 */
function writeEntries({ dir, entries }) {
  const lines = entries.map(({ path, types }) => {
    const name = path.slice(2).replaceAll(/\W/g, '_');
    const all = name === '' ? '*' : `* as ${name}`;
    return `export ${all} from '../../${types.replace(/^\.\//, '').replace(/\.d\.ts$/, '.js')}';\n`;
  });
  const file = join(dir, cache, 'entries.d.ts');
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, lines.join(''));
  return file;
}

/**
 * The exports, and the members of exported interfaces and classes, inherited ones too, that have no
 * doc comment where a user of the package sees them. Comments of options come through types that
 * are made from tables, and would be lost when a table is made in another file. Not counted: the
 * literal name of an error, methods that Node.js calls (`_read`), and the tables themselves, whose
 * entries are documented.
 * @param {string} entries the file with all entries @param {any} program of the TypeScript that API Extractor brings
 */
function withoutComment(entries, program) {
  const checker = program.getTypeChecker();

  /** @param {any} symbol @returns {any[]} what it exports, those of its namespaces too */
  const exportsOf = (symbol) =>
    checker.getExportsOfModule(symbol).flatMap((/** @type {any} */ each) => {
      const target = each.flags & aliasFlag ? checker.getAliasedSymbol(each) : each;
      return target.flags & moduleFlag ? exportsOf(target) : [target];
    });

  /** @param {any} symbol */
  const isBare = (symbol) =>
    symbol.declarations?.[0]?.getSourceFile().fileName.includes('/packages/') &&
    symbol.getDocumentationComment(checker).length === 0;

  return exportsOf(checker.getSymbolAtLocation(program.getSourceFile(entries))).flatMap(
    (symbol) => {
      const bare = isBare(symbol) && !/^[a-z]\w*(?:Options|Errors|Codes)$/.test(symbol.name);
      const isClass = symbol.flags & classFlag;
      if (!isClass && !(symbol.flags & interfaceFlag)) return bare ? [symbol.name] : [];

      /** @type {string[]} */
      const members = checker
        .getPropertiesOfType(checker.getDeclaredTypeOfSymbol(symbol))
        .filter(isBare)
        .map((/** @type {any} */ { name }) => name)
        .filter((/** @type {string} */ name) => !isClass || !/^(?:name|#private|_\w+)$/.test(name));
      return [...(bare ? [symbol.name] : []), ...members.map((name) => `${symbol.name}.${name}`)];
    },
  );
}
/** Bits of SymbolFlags. */
const classFlag = 1 << 5;
const interfaceFlag = 1 << 6;
const moduleFlag = 1 << 9;
const aliasFlag = 1 << 21;

/**
 * Types that tables of options are made with, or that they read, and those that compute the rows of
 * an answer: nobody names them, and a table, of options or of codes, is no part of the surface.
 */
const ofTables =
  /^(?:[a-z]\w*(?:Options|Errors|Codes)|[A-Z]\w*Settings|Given|MayBeGiven|Read|MayBeRead|Flat|NeededNames|FilledNames|ValueOf|ReadValue|OwnName|SaidNames|Spaced|Joined|ColumnOf|MeasureColumn|GroupsOf|MeasuresOf|Extra)$/;

for (const pkg of packages) {
  const { name, dir } = pkg;
  const config = ExtractorConfig.prepare({
    configObjectFullPath: undefined,
    packageJsonFullPath: join(dir, 'package.json'),
    configObject: {
      projectFolder: dir,
      mainEntryPointFilePath: writeEntries(pkg),
      compiler: { tsconfigFilePath: join(dir, 'tsconfig.build.json') },
      apiReport: {
        enabled: true,
        includeForgottenExports: true,
        reportFileName: name,
        reportFolder: join(root, 'api'),
        reportTempFolder: join(dir, cache),
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
  const compilerState = CompilerState.create(config);
  const result = Extractor.invoke(config, {
    compilerState,
    localBuild: write,
    messageCallback: (message) => {
      const type = /symbol "([^"]+)"/.exec(message.text)?.[1];
      if (message.messageId === 'ae-forgotten-export' && !ofTables.test(type ?? ''))
        report(`${name}: a public declaration names ${type}, which no entry exports`);
      message.handled = message.logLevel !== 'error';
    },
  });
  if (!write && result.apiReportChanged)
    report(`${name}: the public surface changed; run "pnpm fix" and review api/${name}.api.md`);
  if (result.errorCount > 0) failed = true;
  if (/\bunique symbol\b/.test(readFileSync(join(dir, cache, `${name}.api.md`), 'utf8')))
    report(`${name}: a public declaration has a unique symbol, which nobody outside can name`);
  for (const one of withoutComment(config.mainEntryPointFilePath, compilerState.program))
    report(`${name}: no doc comment reaches a user of ${one}`);
}
console.log(`${packages.length} public surfaces ${write ? 'written' : 'checked'}`);
process.exitCode = failed ? 1 : 0;
