// Turns the Markdown of the repository into the pages of the site: guides, packages, documents and
// reference. Links between files become links between pages; links to anything else lead to the
// repository on the web.
import { execFileSync } from 'node:child_process';
import {
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { basename, dirname, join, posix } from 'node:path';
import { importSource } from '../scripts/sources.mjs';
import { packages, root } from '../scripts/workspace.mjs';

const web = 'https://github.com/call-attribution/call-attribution';
export const pagesFolder = join(import.meta.dirname, '.pages');

/**
 * @typedef {{ readonly path: string, readonly title: string, readonly about: string, readonly text:
 * string }} Page
 */

// In the order in which most people need them; a guide that is not here is refused.
const guides = [
  'first-call-to-csv',
  'keep-a-database-fresh',
  'be-told',
  'reports-in-a-spreadsheet',
  'show-calls-to-your-team',
  'what-a-keyword-earns',
  'feed-google-ads',
  'ask-in-your-assistant',
  'many-accounts',
  'write-your-own-sink',
  'test-your-own-code',
  'migrate-from-a-loop',
  'troubleshooting',
];
const unlisted = readdirSync(join(root, 'docs/guides')).filter(
  (name) => !guides.includes(name.replace(/\.md$/, '')),
);
if (unlisted.length > 0)
  throw new Error(`docs/guides/${unlisted[0]} has no place in the list of site/pages.mjs.`);

/** Which page each Markdown file becomes. @type {ReadonlyMap<string, string>} */
const pageOf = new Map([
  ...guides.map((name) => /** @type {const} */ ([`docs/guides/${name}.md`, `guides/${name}.md`])),
  ...readdirSync(join(root, 'docs/decisions')).map(
    (name) => /** @type {const} */ ([`docs/decisions/${name}`, `decisions/${name}`]),
  ),
  ...readdirSync(join(root, 'docs'))
    .filter((name) => name.endsWith('.md'))
    .map((name) => /** @type {const} */ ([`docs/${name}`, `docs/${name}`])),
  ...packages.map(
    ({ name }) => /** @type {const} */ ([`packages/${name}/README.md`, `packages/${name}.md`]),
  ),
]);

/**
 * Where a link of a file leads on the site.
 * @param {string} file @param {string} link
 */
export function siteLink(file, link) {
  const own = link.startsWith(`${web}/blob/main/`)
    ? `/${link.slice(`${web}/blob/main/`.length)}`
    : link;
  if (/^[a-z][a-z+.-]*:|^#/i.test(own)) return link;
  const [path = '', anchor] = own.split('#');
  const target = posix.join(
    path.startsWith('/') ? '' : posix.dirname(file),
    decodeURIComponent(path),
  );
  const hash = anchor === undefined ? '' : `#${anchor}`;
  const page = pageOf.get(target.replace(/^\//, ''));
  if (page !== undefined) return `/${page.replace(/\.md$/, '')}${hash}`;
  const isFolder = statSync(join(root, target)).isDirectory();
  return `${web}/${isFolder ? 'tree' : 'blob'}/main/${target}${hash}`;
}

/**
 * Rewrites the links of a page, outside its code, and copies the images it shows.
 * @param {string} file
 * @param {string} text
 */
function withSiteLinks(file, text) {
  return text
    .split(/^(```[\s\S]*?^```)/m)
    .map((part, i) =>
      i % 2 === 1
        ? part
        : part.replace(/(!?)(\[[^\]]*\])\(([^)\s]+)\)/g, (_, isImage, label, link) =>
            isImage ? `!${label}(${imageOf(file, link)})` : `${label}(${siteLink(file, link)})`,
          ),
    )
    .join('');
}

/** @param {string} file @param {string} link */
function imageOf(file, link) {
  if (/^https?:/.test(link)) return link;
  mkdirSync(join(pagesFolder, 'public/images'), { recursive: true });
  cpSync(join(root, dirname(file), link), join(pagesFolder, 'public/images', basename(link)));
  return `/images/${basename(link)}`;
}

/** The first paragraph after the title, as one line. @param {string} text */
function aboutOf(text) {
  const paragraph = text
    .replace(/^---[\s\S]*?^---$/m, '')
    .split(/\n\s*\n/)
    .find((part) => /^[A-Z`[]/.test(part.trim()));
  return (paragraph ?? '')
    .replace(/\s+/g, ' ')
    .replace(/\[([^\]]*)\]\([^)]*\)/g, '$1')
    .trim();
}

/**
 * Writes all pages and says what they are.
 * @param {(entries: readonly { name: string, source: string }[], out: string) => Promise<void>}
 *   writeReference
 * @returns {Promise<Page[]>}
 */
export async function writePages(writeReference) {
  rmSync(pagesFolder, { recursive: true, force: true });

  /** @type {Page[]} */
  const pages = [];

  /** @param {string} path @param {string} text */
  const write = (path, text) => {
    const file = join(pagesFolder, path);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, text);
    const title = /^# (.+)$/m.exec(text)?.[1] ?? path;
    pages.push({
      path: path.replace(/\.md$/, ''),
      title: title.replaceAll('`', ''),
      about: aboutOf(text),
      text,
    });
  };

  for (const name of ['index.md', 'playground.md'])
    write(
      name,
      withSiteLinks(`site/${name}`, readFileSync(join(import.meta.dirname, name), 'utf8')),
    );

  // The picture of the home page, which its front matter names, and the icon of the service's page.
  imageOf('README.md', 'docs/screens/page-light.png');
  cpSync(join(root, 'packages/service/browser/icon.svg'), join(pagesFolder, 'public/icon.svg'));
  for (const [file, page] of pageOf) {
    const text = readFileSync(join(root, file), 'utf8');
    write(page, withSiteLinks(file, text));
  }

  // Made from the help, so that no option is without a page.
  const bin = join(root, 'packages/cli/dist/bin.js');
  const { commands: all } = /** @type {{ commands: readonly { name: string }[] }} */ (
    await importSource(join(root, 'packages/cli/src/commands/index.ts'))
  );
  let commands = '# Commands\n\nEach command with all its options, as `calls help` prints it.\n';
  for (const { name } of all) {
    const help = execFileSync(process.execPath, [bin, 'help', ...name.split(' ')], {
      encoding: 'utf8',
    });
    commands += `\n## calls ${name}\n\n\`\`\`text\n${help.trim()}\n\`\`\`\n`;
  }
  write('docs/commands.md', commands);
  const entries = packages.flatMap(({ name, dir, entries }) =>
    entries.map(({ path, source }) => ({
      name: `${name}${path.slice(1)}`,
      source: join(dir, source),
    })),
  );
  await writeReference(entries, join(pagesFolder, 'reference'));
  for (const { name } of entries) {
    const path = `reference/${name}`;
    const file = join(pagesFolder, `${path}.md`);
    // A heading takes over the anchor that stands before it: it would get one more from its words.
    const text = readFileSync(file, 'utf8')
      .replace(/^# .+/m, '$& {#package}')
      .replace(/<a id="([^"]+)"><\/a>\s+(#+ .+)/g, (_, id, heading) => `${heading} {#${id}}`);
    writeFileSync(file, text);
    pages.push({
      path,
      title: `@call-attribution/${name}`,
      about: 'Every export, with its types.',
      text,
    });
  }

  return pages;
}

/** The order of the sidebar. @param {readonly Page[]} pages */
export function sidebarOf(pages) {
  const section = (
    /** @type {string} */ text,
    /** @type {string} */ prefix,
    /** @type {boolean} */ collapsed,
  ) => ({
    text,
    collapsed,
    items: pages
      .filter(
        ({ path }) =>
          path.startsWith(prefix) &&
          (prefix !== 'reference/' || existsSync(join(pagesFolder, `${path}.md`))),
      )
      .map(({ path, title }) => ({
        text: title.replace(/^@call-attribution\//, ''),
        link: `/${path}`,
      })),
  });
  return [
    section('Guides', 'guides/', false),
    section('Packages', 'packages/', false),
    section('Documents', 'docs/', true),
    section('Reference', 'reference/', true),
    section('Decisions', 'decisions/', true),
  ];
}
