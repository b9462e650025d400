// Every entry of a package, and every name that it exports, is there for somebody: a README or a
// guide shows it, or another package uses it. Every command and every tool of assistants is in a
// page, and every upload format has a row in its guide. Tests and benchmarks do not count. A type
// also counts when what somebody uses names it, since people must be able to write it. The names
// are those of the reports in `api`.
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { markdownFiles } from './markdown.mjs';
import { importSource } from './sources.mjs';
import { packages, root, scope } from './workspace.mjs';

/** The code of a page, inline and in blocks, and its headings. @param {string} text */
const codeOf = (text) => (text.match(/^(```+)[\s\S]*?^\1|`[^`\n]+`|^#.*/gm) ?? []).join('\n');

/** @param {string} text */
const wordsOf = (text) => new Set(text.match(/[A-Za-z_$][\w$]*/g) ?? []);

/**
 * The exports of a report that nobody uses, by name.
 * @param {string} report an API report @param {ReadonlySet<string>} used names that pages and other packages have
 */
export function unusedExports(report, used) {
  /** @type {Map<string, string>} */
  const declared = new Map();
  for (const text of report
    .replaceAll('\r', '')
    .split(/\n\n(?=\/\/ @|declare namespace|export \{)/)) {
    const name = /\b(?:function|class|interface|type|const|let)\s+([\w$]+)/.exec(text)?.[1];
    // Overloads of a function have a part each.
    if (text.startsWith('// @') && name !== undefined)
      declared.set(name, `${declared.get(name) ?? ''}${text}\n`);
  }

  // Where two entries have a name, the report numbers the second.
  const plain = (/** @type {string} */ name) => name.replace(/_\d$/, '');
  const open = [...declared.keys()].filter((name) => used.has(plain(name)));
  const reached = new Set(open);
  for (let name = open.pop(); name !== undefined; name = open.pop())
    for (const word of wordsOf(declared.get(name) ?? ''))
      if (declared.has(word) && !reached.has(word)) {
        reached.add(word);
        open.push(word);
      }

  return [...declared.keys()].filter((name) => !reached.has(name));
}

/**
 * The entries and exports of a package that nobody uses, as lines.
 * @param {{ readonly name: string, readonly paths: readonly string[], readonly report: string }} pkg
 * @param {readonly string[]} pages code of the documentation @param {readonly string[]} sources of other packages
 */
export function unused({ name, paths, report }, pages, sources) {
  const own = scope + name;
  const users = [...pages, ...sources.filter((text) => text.includes(own))];
  const used = new Set(users.flatMap((text) => [...wordsOf(text)]));
  const entries = paths.map((path) => own + path.slice(1));
  return [
    ...entries.filter(
      (entry) => !users.some((text) => new RegExp(`${entry}(?![\\w/-])`).test(text)),
    ),
    ...unusedExports(report, used).map((one) => `${one} of ${own}`),
  ].map(
    (what) =>
      `${what}: no page shows it, and no other package uses it; document it, or export it no longer`,
  );
}

/**
 * The commands, tools and formats that no page shows, as lines.
 * @param {readonly string[]} names @param {readonly string[]} pages code of the documentation
 */
export const unshown = (names, pages) =>
  names
    .filter((name) => !pages.some((text) => new RegExp(`\\b${name}\\b`).test(text)))
    .map((name) => `${name}: no page shows it`);

if (process.argv[1] === import.meta.filename) {
  const read = (/** @type {string} */ file) => readFileSync(join(root, file), 'utf8');
  const pages = markdownFiles()
    .filter((file) => /^(?:README\.md|(?:packages|docs|examples|docker)\/)/.test(file))
    .filter((file) => !file.startsWith('docs/decisions/'))
    .map((file) => codeOf(read(file)));
  const sources = execFileSync(
    'git',
    ['ls-files', 'packages/*/src/**', 'packages/*/browser/**', 'examples/*.mjs'],
    {
      cwd: root,
      encoding: 'utf8',
    },
  )
    .split('\n')
    .filter((file) => /\.m?ts$|\.mjs$/.test(file) && !file.startsWith('packages/test-tools/'))
    .map((file) => ({ owner: file.split('/')[1], text: read(file) }));
  const lines = packages.flatMap(({ name, entries }) =>
    unused(
      { name, paths: entries.map(({ path }) => path), report: read(`api/${name}.api.md`) },
      pages,
      sources.flatMap(({ owner, text }) => (owner === name ? [] : [text])),
    ),
  );
  const namesOf = async (/** @type {string} */ file, /** @type {string} */ list) => {
    const listed = /** @type {object} */ ((await importSource(join(root, file)))[list]);
    return Object.values(listed).map(({ name }) => /** @type {string} */ (name));
  };
  const commands = await namesOf('packages/cli/src/commands/index.ts', 'commands');
  const tools = await namesOf('packages/mcp-server/src/tools/list.ts', 'tools');
  const formats = await namesOf('packages/conversions/src/formats/all.ts', 'sheetFormats');
  const rows = read('docs/conversions.md').match(/^\| `[^`]+` \|/gm) ?? [];
  lines.push(
    ...unshown([...commands.map((name) => `calls ${name}`), ...tools], pages),
    ...unshown(formats, rows),
  );
  for (const line of lines) console.error(line);
  process.exitCode = lines.length > 0 ? 1 : 0;
}
