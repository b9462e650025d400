// `pnpm run docs`: builds the documentation site into site/dist. Its tools are installed on their own the first time.
import { execFileSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

const here = import.meta.dirname;
const lock = readFileSync(join(here, 'pnpm-lock.yaml'), 'utf8');
const installed = join(here, 'node_modules/.installed');
if (!existsSync(installed) || readFileSync(installed, 'utf8') !== lock) {
  execFileSync('npx', ['--yes', 'pnpm@12.21.0', 'install', '--frozen-lockfile'], {
    cwd: here,
    stdio: 'inherit',
  });
  writeFileSync(installed, lock);
}

const { pagesFolder, writePages } = await import('./pages.mjs');
const { writeReference } = await import('./reference.mjs');
const pages = await writePages(writeReference);
writeFileSync(
  join(pagesFolder, 'pages.json'),
  JSON.stringify(pages.map(({ path, title }) => ({ path, title }))),
);
const { build } = await import('vitepress');
await build(here, {});

// For assistants: each page as Markdown next to it, and a list of them.
const out = join(here, 'dist');
for (const { path, text } of pages) {
  mkdirSync(dirname(join(out, path)), { recursive: true });
  writeFileSync(join(out, `${path}.md`), text);
}
const entry = (
  /** @type {{ path: string, title: string, about: string }} */ { path, title, about },
) => `- [${title}](${process.env.SITE_BASE ?? '/'}${path}.md): ${about}`;
const groups = [
  ['Guides', 'guides/'],
  ['Packages', 'packages/'],
  ['Reference', 'reference/'],
  ['Documents', 'docs/'],
  ['Optional', 'decisions/'],
];
const intro = pages.find(({ path }) => path === 'index')?.about ?? '';
writeFileSync(
  join(out, 'llms.txt'),
  `# call-attribution\n\n> ${intro}\n\n${groups
    .map(
      ([title, prefix]) =>
        `## ${title}\n\n${pages
          .filter(({ path }) => path.startsWith(prefix ?? ''))
          .map(entry)
          .join('\n')}`,
    )
    .join('\n\n')}\n`,
);
cpSync(join(pagesFolder, 'pages.json'), join(out, 'pages.json'));
console.log(
  `${pages.length} pages in site/dist; npx vitepress preview, in the folder site, shows them`,
);
